package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxBytes is ten times the example, and more than settings can have. The parser's time
// grows with the square of the depth: of 64 KiB of brackets it makes 3 s.
const maxBytes = 64 << 10

// entry is a key of the table with a value that somebody wrote, not checked yet.
type entry struct {
	key        key
	text, from string
	line       int // 0 where it is in no file
}

// readFile reads a bounded file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("read %s: more than %d bytes, which is no configuration", path, maxBytes)
	}
	return data, nil
}

// parse finds all entries of a YAML text, and all that is wrong with its form. path is
// for messages.
func parse(path string, data []byte) ([]entry, Problems) {
	r := reader{path: path, seen: map[string]int{}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n") // the parser would count some lines twice
	if strings.ContainsRune(text, 0) {
		// A file system that lost power leaves zeros behind.
		return nil, Problems{{From: path, Reason: "it has zero bytes in it: damaged, or no text"}}
	}
	// Equal keys pass here, since the parser would stop at the first.
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil, r.problems
	}
	if len(file.Docs) > 1 {
		// An empty document has no token to tell the line of.
		return nil, Problems{{From: path, Reason: "more than one document; \"---\" may stand at the start only"}}
	}
	for _, doc := range file.Docs {
		r.mapping("", doc.Body)
	}
	return r.entries, r.problems
}

// reader walks through a document.
type reader struct {
	path     string
	entries  []entry
	problems Problems
	seen     map[string]int // lines of the keys so far
}

func (r *reader) syntax(err error) {
	from, reason := r.path, err.Error()
	var at yaml.Error
	if errors.As(err, &at) {
		reason = at.GetMessage()
		if t := at.GetToken(); t != nil {
			from = fmt.Sprintf("%s:%d", r.path, t.Position.Line)
		}
	}
	r.problems = append(r.problems, &Problem{From: from, Reason: "not YAML: " + reason})
}

func (r *reader) at(n ast.Node) string { return fmt.Sprintf("%s:%d", r.path, line(n)) }

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

func (r *reader) problem(n ast.Node, format string, args ...any) {
	r.problems = append(r.problems, &Problem{From: r.at(n), Reason: fmt.Sprintf(format, args...), line: line(n)})
}

// mapping reads the keys of a section, or of the whole where section is "".
func (r *reader) mapping(section string, n ast.Node) {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		// Everything in it is commented out.
	case *ast.MappingNode:
		for _, pair := range n.Values {
			r.pair(section, pair)
		}
	case *ast.MappingValueNode:
		r.pair(section, n)
	default:
		if section == "" {
			r.problem(n, "want keys with values, as in model: tiny.en")
			return
		}
		r.problem(n, "%s is a section: want lines below it, indented, as in %s", section, exampleOf(section))
	}
}

// exampleOf is a line that may stand in a section.
func exampleOf(section string) string {
	for _, k := range keys() {
		if in, last := split(k.Name); in == section {
			return last + ": " + k.Default
		}
	}
	panic("BUG: empty section " + section)
}

func (r *reader) pair(in string, pair *ast.MappingValueNode) {
	last, plain := scalar(pair.Key)
	if !plain {
		r.problem(pair.Key, "want a plain key")
		return
	}
	name := last
	if in != "" {
		name = in + "." + last
	}
	if isSection(name) {
		if r.once(pair.Key, name) {
			r.mapping(name, pair.Value)
		}
		return
	}
	k, known := find(name)
	if !known || strings.Contains(last, ".") {
		r.problem(pair.Key, "%s", unknown(in, last))
		return
	}
	if !r.once(pair.Key, name) {
		return
	}
	text, plain := value(k, pair.Value)
	if !plain {
		wanted := k.wanted()
		if k.isText() {
			wanted = cmp.Or(k.Allowed, wanted)
		}
		r.problem(pair.Key, "%s has no value, or more than one; want %s", name, wanted)
		return
	}
	r.entries = append(r.entries, entry{k, text, r.at(pair.Key), line(pair.Key)})
}

func isSection(name string) bool {
	for _, s := range sections() {
		if s.name == name {
			return true
		}
	}
	return false
}

// once refuses what was there before.
func (r *reader) once(n ast.Node, name string) bool {
	if before, found := r.seen[name]; found {
		r.problem(n, "%s stands in line %d already", name, before)
		return false
	}
	r.seen[name] = line(n)
	return true
}

// value is the text of a value, or of a list.
func value(k key, n ast.Node) (text string, plain bool) {
	list, isList := n.(*ast.SequenceNode)
	if !isList || !k.isList() {
		return scalar(n)
	}
	var items []string
	for _, item := range list.Values {
		text, plain := scalar(item)
		if !plain {
			return "", false
		}
		items = append(items, text)
	}
	return strings.Join(items, ","), true
}

// scalar is the text as it was written: what type it has is ours to say, and "no" is
// Norwegian.
func scalar(n ast.Node) (text string, plain bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSuffix(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
