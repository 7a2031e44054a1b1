package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Key describes one setting, for documentation and for the page.
type Key struct {
	Name    string // "endpointing.pre-roll"
	Doc     string
	Allowed string // in words, "" where anything goes
	Default string
	Live    bool // SIGHUP changes it; others need a restart
	Page    bool // it may stand in settings.yaml
}

// Keys lists everything that can be set, in the order of the example.
func Keys() []Key {
	var list []Key
	for _, k := range keys() {
		list = append(list, k.Key)
	}
	return list
}

// key is one setting with the means to read and check it.
type key struct {
	Key
	index     []int // of the field in Config
	form      reflect.Kind
	kind      kind
	low, high any // nil where there are no limits
	oneOf     []string
	check     check
}

// section is a struct in Config.
type section struct{ name, doc string }

var keys = sync.OnceValue(func() []key {
	list, _ := fields()
	return list
})

var sections = sync.OnceValue(func() []section {
	_, list := fields()
	return list
})

// fields reads the tags of Config, which has structs of plain fields and no deeper ones.
func fields() (list []key, parts []section) {
	t := reflect.TypeFor[Config]()
	for _, f := range reflect.VisibleFields(t) {
		if _, plain := kinds[f.Type]; plain {
			list = append(list, newKey(f, f.Tag.Get("yaml"), f.Index))
			continue
		}
		name := f.Tag.Get("yaml")
		parts = append(parts, section{name, f.Tag.Get("doc")})
		for _, inner := range reflect.VisibleFields(f.Type) {
			list = append(list, newKey(inner, name+"."+inner.Tag.Get("yaml"), slices.Concat(f.Index, inner.Index)))
		}
	}
	return list, parts
}

func newKey(f reflect.StructField, name string, index []int) key {
	tag := f.Tag
	k := key{
		Key:   Key{Name: name, Doc: tag.Get("doc"), Default: tag.Get("default"), Live: tag.Get("live") != "", Page: tag.Get("page") != ""},
		index: index,
		form:  f.Type.Kind(),
		kind:  kinds[f.Type],
		oneOf: strings.Fields(tag.Get("oneof")),
	}
	if k.kind.parse == nil {
		panic(fmt.Sprintf("BUG: %s: no way to read a %s", name, f.Type))
	}
	if in := strings.Fields(tag.Get("in")); len(in) == 2 {
		k.low, k.high = k.limit(in[0]), k.limit(in[1])
	}
	if check := tag.Get("check"); check != "" {
		k.check = checks[check]
		if k.check.ok == nil {
			panic(fmt.Sprintf("BUG: %s: no check %q", name, check))
		}
	}
	k.Allowed = k.allowed()
	return k
}

func (k key) limit(text string) any {
	v, err := k.kind.parse(text)
	if err != nil {
		panic(fmt.Sprintf("BUG: %s: limit %q is not %s", k.Name, text, k.kind.what))
	}
	return v
}

// allowed says in words what passes.
func (k key) allowed() string {
	switch {
	case k.low != nil:
		return k.kind.text(k.low) + " to " + k.kind.text(k.high)
	case k.isList():
		return "a list of any of " + strings.Join(k.oneOf, ", ") + ", each once; or []"
	case len(k.oneOf) > 0:
		return anyOf(k.oneOf)
	case k.check.ok != nil:
		return k.check.allowed
	case k.isText():
		return ""
	}
	return k.kind.what
}

func anyOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (k key) isText() bool { return k.form == reflect.String }
func (k key) isList() bool { return k.form == reflect.Slice }

// set puts a text into c, or says what is wrong with it.
func (k key) set(c *Config, text, from string, more Checks) *Problem {
	v, err := k.kind.parse(text)
	if err != nil {
		return &Problem{From: from, Key: k.Name, Value: text, Reason: k.wanted()}
	}
	if !k.passes(v) {
		return &Problem{From: from, Key: k.Name, Value: text, Reason: k.Allowed}
	}
	if check := more[k.Name]; check != nil {
		if err := check(k.kind.text(v)); err != nil {
			return &Problem{From: from, Key: k.Name, Value: text, Reason: err.Error()}
		}
	}
	reflect.ValueOf(c).Elem().FieldByIndex(k.index).Set(reflect.ValueOf(v))
	return nil
}

// wanted is for what is no value of the kind at all.
func (k key) wanted() string {
	if k.low != nil {
		return k.kind.what + ", " + k.Allowed
	}
	if k.Allowed != "" && !k.isText() {
		return k.Allowed
	}
	return k.kind.what
}

func (k key) passes(v any) bool {
	if k.low != nil && (k.kind.compare(v, k.low) < 0 || k.kind.compare(v, k.high) > 0) {
		return false
	}
	if list, isList := v.([]string); isList {
		return k.passesList(list)
	}
	if len(k.oneOf) > 0 {
		return slices.Contains(k.oneOf, v.(string))
	}
	return k.check.ok == nil || k.check.ok(v.(string))
}

func (k key) passesList(list []string) bool {
	for i, word := range list {
		if !slices.Contains(k.oneOf, word) || slices.Contains(list[:i], word) {
			return false
		}
	}
	return true
}

// text is the value in c as it is written in a file, quotation marks apart.
func (k key) text(c *Config) string {
	return k.kind.text(reflect.ValueOf(c).Elem().FieldByIndex(k.index).Interface())
}

// find returns the key with a name.
func find(name string) (key, bool) {
	for _, k := range keys() {
		if k.Name == name {
			return k, true
		}
	}
	return key{}, false
}
