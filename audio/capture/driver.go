package capture

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"earshot/audio"
)

// Device is an input, as the system lists it.
type Device struct {
	Name     string `json:"name"`
	System   string `json:"system"`   // what lists it: ALSA, JACK …
	Rate     int    `json:"rate"`     // that it proposes, Hz
	Channels int    `json:"channels"` // at most
	Default  bool   `json:"default"`

	index int // in the driver's list
}

// driver is a sound system.
type driver interface {
	// inputs lists the devices that can record.
	inputs() ([]Device, error)
	// open starts a device. An error that wraps errBusy says that no other format will
	// do either.
	open(d Device, f audio.Format) (input, error)
	close()
}

// input is a device that records.
type input interface {
	// read waits for len(buf) interleaved samples. lost says that the driver lost some
	// in front of them.
	read(buf []float32) (lost bool, err error)
	// waiting is how many frames could be read without waiting.
	waiting() int
	close()
}

var errBusy = errors.New("the device can't be opened now")

// ErrNoPortAudio is what devices say in a program that was built without PortAudio.
var ErrNoPortAudio = errors.New("built without PortAudio: there are no sound devices (install portaudio19-dev and a C compiler, then make build)")

// absentError says that no device has the name that was asked for.
type absentError struct {
	name    string
	devices []Device
}

func (e *absentError) Error() string {
	switch {
	case len(e.devices) == 0:
		return "the system has no sound input"
	case e.name == "":
		return "the system has no default input"
	}
	names := make([]string, len(e.devices))
	for i, d := range e.devices {
		names[i] = fmt.Sprintf("%q", d.Name)
	}
	return fmt.Sprintf("no input is named %q; there are %s", e.name, strings.Join(names, ", "))
}

// card is what ALSA puts behind names. It changes when things are plugged in.
var card = regexp.MustCompile(` ?\((hw|plughw):[0-9,]+\)$`)

// choose finds the device that is meant by name: the one of that name, else the first
// that has it in its name; "" is the system's default. Capitals don't count.
func choose(devices []Device, name string) (Device, error) {
	bare := func(d Device) string { return strings.ToLower(card.ReplaceAllString(d.Name, "")) }
	want := strings.ToLower(name)
	for _, fits := range []func(Device) bool{
		func(d Device) bool { return name == "" && d.Default },
		func(d Device) bool { return strings.ToLower(d.Name) == want },
		func(d Device) bool { return bare(d) == want },
		func(d Device) bool { return name != "" && strings.Contains(bare(d), want) },
	} {
		if i := slices.IndexFunc(devices, fits); i >= 0 {
			return devices[i], nil
		}
	}
	return Device{}, &absentError{name, devices}
}

// formats are those to try, the best first. 0 in asked leaves the choice to us.
//
// All channels of a microphone are taken, as one of two may be wired the wrong way
// round; more than 8 are not a microphone but ALSA saying that it takes any number. The
// rate is the device's own if that says something: PortAudio asks ALSA for 44100 Hz and
// reports what comes nearest, so that 44100 may mean any rate. 48000 goes first then:
// it is what most hardware has, and three times ours.
func formats(d Device, asked audio.Format) []audio.Format {
	rates := []int{48000, 44100, 16000, 32000, 96000, 8000, 22050, 24000, 88200, 176400, 192000, 11025, 12000}
	if d.Rate >= minRate && d.Rate <= maxRate && d.Rate != 44100 {
		rates = slices.Concat([]int{d.Rate}, rates)
	}
	channels := []int{2, 1, min(d.Channels, maxChannels)}
	if d.Channels <= 8 {
		channels = []int{d.Channels, 1, 2, 4}
	}
	if asked.Rate != 0 {
		rates = []int{asked.Rate}
	}
	if asked.Channels != 0 {
		channels = []int{asked.Channels}
	}
	var all []audio.Format
	for _, ch := range channels {
		for _, rate := range rates {
			if f := (audio.Format{Rate: rate, Channels: ch}); ch <= d.Channels && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// openAny opens d in the first format that it takes.
func openAny(drv driver, d Device, asked audio.Format) (input, audio.Format, error) {
	var first error
	all := formats(d, asked)
	for _, f := range all {
		in, err := drv.open(d, f)
		if err == nil {
			return in, f, nil
		}
		if first == nil {
			first = fmt.Errorf("%d Hz with %d channels: %w", f.Rate, f.Channels, err)
		}
		if errors.Is(err, errBusy) {
			break
		}
	}
	return nil, audio.Format{}, fmt.Errorf("open %q (%d formats tried): %w", d.Name, len(all),
		cmp.Or(first, fmt.Errorf("it has %d channels", d.Channels)))
}
