package capture

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"earshot/audio"
)

// Formats outside are typing errors or garbage. They are those that audio/resample and
// audio/wave accept.
const (
	minRate     = 4000
	maxRate     = 192000
	maxChannels = 32
)

type kind int

const (
	kindDevice kind = iota
	kindFile
	kindLoop
	kindStdin
)

// spec is a source's description, taken apart.
type spec struct {
	kind    kind
	name    string // of the device ("" is the default), or the path
	filter  bool
	gain    bool
	channel audio.Channel // Mix, or one
	unpaced bool
	format  audio.Format // 0 where not given
	float   bool         // stdin: f32le
}

// parseSpec reads what Open documents. Only what stands behind the last question mark
// and looks like options is taken for options: devices and files may have one in their
// name. What preset says holds where text doesn't.
func parseSpec(text, preset string) (spec, error) {
	p := spec{}
	rest, options := text, ""
	if i := strings.LastIndexByte(text, '?'); i >= 0 && optionsLike.MatchString(text[i+1:]) {
		rest, options = text[:i], text[i+1:]
	}
	scheme, name, found := strings.Cut(rest, ":")
	switch {
	case found && scheme == "file":
		p.kind, p.name = kindFile, name
	case found && scheme == "loop":
		p.kind, p.name = kindLoop, name
	case found && scheme == "device":
		p.name = name
	case found && (scheme == "ws" || scheme == "wss"):
		return p, fmt.Errorf("source %q: network sources are not opened by name", text)
	case rest == "stdin" || rest == "-":
		p.kind = kindStdin
		p.format = audio.Format{Rate: audio.SampleRate, Channels: 1}
	default:
		p.name = rest
	}
	p.name = strings.TrimSpace(p.name)
	if (p.kind == kindFile || p.kind == kindLoop) && p.name == "" {
		return p, fmt.Errorf("source %q: the path is missing", text)
	}
	if p.kind == kindDevice {
		if err := checkDeviceName(p.name); err != nil {
			return p, fmt.Errorf("source %q: %w", text, err)
		}
		if strings.EqualFold(p.name, "default") {
			p.name = ""
		}
		p.filter, p.gain = true, true
	}
	for _, o := range []string{preset, options} {
		if err := p.options(o); err != nil {
			return p, fmt.Errorf("source %q: %w", text, err)
		}
	}
	return p, nil
}

var (
	optionsLike = regexp.MustCompile(`^[a-z]+=[^/]*$`)
	number      = regexp.MustCompile(`^(hw:|plughw:)?[0-9]+(,[0-9]+)*$`)
)

// checkDeviceName refuses numbers: they change whenever something is plugged in.
func checkDeviceName(name string) error {
	if number.MatchString(name) {
		return errors.New("devices are chosen by name, or a part of it, not by number (`earshot devices` lists them)")
	}
	return nil
}

func (p *spec) options(text string) error {
	values, err := url.ParseQuery(text)
	if err != nil {
		return err
	}
	for key, all := range values {
		if err := p.option(key, all[len(all)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (p *spec) option(key, value string) (err error) {
	file, sound := p.kind == kindFile || p.kind == kindLoop, p.kind == kindDevice || p.kind == kindStdin
	switch {
	case key == "gain":
		p.gain, err = onOff(key, value)
	case key == "filter":
		p.filter, err = onOff(key, value)
	case key == "channel":
		if p.channel, err = audio.ParseChannel(value); p.channel == audio.Each {
			err = errors.New("channel=each: mix, or a number")
		}
	case key == "speed" && file:
		if p.unpaced = value == "max"; !p.unpaced && value != "1" {
			err = fmt.Errorf("speed=%s: 1 or max", value)
		}
	case key == "rate" && sound:
		p.format.Rate, err = within(key, value, minRate, maxRate)
	case key == "channels" && sound:
		p.format.Channels, err = within(key, value, 1, maxChannels)
	case key == "format" && p.kind == kindStdin:
		if p.float = value == "f32le"; !p.float && value != "s16le" {
			err = fmt.Errorf("format=%s: s16le or f32le", value)
		}
	default:
		err = fmt.Errorf("it has no option %q", key)
	}
	return err
}

func onOff(key, value string) (bool, error) {
	if value != "on" && value != "off" {
		return false, fmt.Errorf("%s=%s: on or off", key, value)
	}
	return value == "on", nil
}

func within(key, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s=%s: %d to %d", key, value, low, high)
	}
	return n, nil
}
