package config

import (
	"net"
	"regexp"
	"strconv"
)

// Checks are tests that need to know more than this package does, by the names of keys:
// that there is such a language, such a model. Their errors say what is wrong with a
// value, without repeating it.
type Checks map[string]func(value string) error

// check is a test of a text that a list of words cannot express.
type check struct {
	allowed string
	ok      func(string) bool
}

var checks = map[string]check{
	"model":    {"the name of a model: lower-case letters, digits, . _ -", regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`).MatchString},
	"language": {"auto, a language, or several with commas", regexp.MustCompile(`^\pL[\pL0-9 _-]*(, *\pL[\pL0-9 _-]*)*$`).MatchString},
	"channel":  {"mix, or 1 to 32", isChannel},
	"key":      {"a name such as KEY_MICMUTE or SW_MUTE_DEVICE, key:NUMBER, switch:NUMBER, or off", regexp.MustCompile(`^(off|(KEY|BTN|SW)_[A-Z0-9_]+|(key|switch):[0-9]\w*)$`).MatchString},
	"led":      {"a name without a slash, or nothing", regexp.MustCompile(`^(\.*[^/.][^/]*)?$`).MatchString},
	"listen":   {"ADDRESS:PORT, or off", isListen},
}

func isChannel(text string) bool {
	n, err := strconv.Atoi(text)
	return text == "mix" || err == nil && n >= 1 && n <= 32
}

func isListen(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return text == "off"
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
