package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// errValue stands for "not what kind.what says".
var errValue = errors.New("not such a value")

// kind is how the values of one Go type are written, read and compared.
type kind struct {
	what    string // what is expected
	parse   func(string) (any, error)
	text    func(any) string
	compare func(a, b any) int // nil where there is no order
}

var kinds = map[reflect.Type]kind{
	reflect.TypeFor[string]():        {what: fmt.Sprintf("a text in one line, at most %d bytes", maxText), parse: erase(parseText), text: func(v any) string { return v.(string) }},
	reflect.TypeFor[bool]():          {what: "true or false", parse: erase(parseBool), text: func(v any) string { return strconv.FormatBool(v.(bool)) }},
	reflect.TypeFor[int]():           ordered("a whole number", strconv.Atoi, strconv.Itoa),
	reflect.TypeFor[float64]():       ordered("a number such as 0.5", parseNumber, func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
	reflect.TypeFor[time.Duration](): ordered("a duration such as 300ms, 15s or 30d", parseDuration, durationText),
	reflect.TypeFor[Size]():          ordered("a size such as 500MB or 2GiB", parseSize, Size.String),
	reflect.TypeFor[Keep]():          ordered("never, forever, or an age such as 12h or 30d, at least 1m", parseKeep, Keep.String),
	reflect.TypeFor[[]string]():      {what: "a list such as [a, b]", parse: erase(parseList), text: func(v any) string { return "[" + strings.Join(v.([]string), ", ") + "]" }},
}

func erase[T any](parse func(string) (T, error)) func(string) (any, error) {
	return func(text string) (any, error) { return parse(text) }
}

func ordered[T cmp.Ordered](what string, parse func(string) (T, error), text func(T) string) kind {
	return kind{
		what:    what,
		parse:   erase(parse),
		text:    func(v any) string { return text(v.(T)) },
		compare: func(a, b any) int { return cmp.Compare(a.(T), b.(T)) },
	}
}
