package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

const exampleHead = `# Configuration of earshot: ` + DefaultPath + `
#
# Everything works without this file. Each key stands here with its default: delete the
# "#" in front of one to change it. "earshot config check" tells what is wrong with the
# file, and "earshot config show" what holds, and why.
#
# [live] keys change while earshot runs, with "systemctl reload earshot" (SIGHUP); others
# with the next start. [page] keys can also be changed on the page; what is said there
# wins over this file, and what is said on the command line over both.
#
# Durations: 300ms, 15s, 1m30s, 12h, 30d. Sizes: 500MB, 64MiB, 2GB.
`

// Example is a configuration file with every key, its default and its comment, all keys
// commented out.
func Example() string {
	c := Default()
	return exampleHead + document(func(k key) string {
		indent := indentOf(k.Name)
		return "\n" + comment(indent, k.Doc) + comment(indent, k.remark()) + indent + "#" + strings.TrimSpace(k.line(&c)) + "\n"
	})
}

// remark is the second part of a key's comment: what is allowed.
func (k key) remark() string {
	var parts []string
	if k.Allowed != "" {
		parts = append(parts, "Allowed: "+k.Allowed+".")
	}
	if k.Live {
		parts = append(parts, "[live]")
	}
	if k.Page {
		parts = append(parts, "[page]")
	}
	return strings.Join(parts, " ")
}

// Show is the configuration as a file, with where each value comes from.
func (l *Loaded) Show() string {
	const column = 42
	return document(func(k key) string {
		line := strings.TrimSuffix(k.line(&l.Config), "\n")
		return fmt.Sprintf("%-*s # %s\n", column, line, l.From(k.Name))
	})
}

// document writes keys in their order, with the names of sections in front of the keys
// that are in them. What write returns for a key may be empty.
func document(write func(key) string) string {
	var b strings.Builder
	open := ""
	for _, k := range keys() {
		text := write(k)
		if text == "" {
			continue
		}
		if in, _ := split(k.Name); in != open {
			open = in
			b.WriteString(heading(in, strings.HasPrefix(text, "\n")))
		}
		b.WriteString(text)
	}
	return b.String()
}

// heading is the line that begins a section, with its comment where there are comments.
func heading(name string, comments bool) string {
	for _, s := range sections() {
		if s.name == name && comments {
			return "\n\n" + comment("", s.doc) + name + ":\n"
		}
	}
	return name + ":\n"
}

// line is a key with its value in c, as it stands in a file.
func (k key) line(c *Config) string {
	_, last := split(k.Name)
	return indentOf(k.Name) + last + ": " + k.written(c) + "\n"
}

func indentOf(name string) string {
	if in, _ := split(name); in != "" {
		return "  "
	}
	return ""
}

// plain texts need no quotation marks in any YAML and are no other type there.
var plain = regexp.MustCompile(`^[A-Za-z0-9/_][A-Za-z0-9/_.:-]*[A-Za-z0-9/_.-]$`)

// notText are plain words that some YAML takes for something else.
var notText = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null|y|n|[0-9:._xob-]+)$`)

// written is the value in c, in quotation marks where YAML may need them.
func (k key) written(c *Config) string {
	text := k.text(c)
	if !k.isText() || plain.MatchString(text) && (len(k.oneOf) > 0 || !notText.MatchString(text)) {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // a JSON string is one of YAML's
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("BUG: a text that JSON cannot have: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// comment wraps words to the width of the file.
func comment(indent, text string) string {
	const width = 88
	var b strings.Builder
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	if text != "" {
		b.WriteString(line + "\n")
	}
	return b.String()
}
