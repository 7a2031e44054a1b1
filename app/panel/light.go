package panel

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Light is an LED. Create it with NewLight; Run does the work.
type Light struct {
	Name string      // in /sys/class/leds
	On   func() bool // whether it is lit
	Log  *slog.Logger

	status
	root    string
	changed chan struct{}
}

// NewLight returns a light that is never lit.
func NewLight(name string) *Light {
	l := &Light{Name: name, On: func() bool { return false }, Log: slog.New(slog.DiscardHandler), root: "/sys/class/leds", changed: make(chan struct{}, 1)}
	l.set(Searching, "", name)
	return l
}

// Changed says that On may say something else now.
func (l *Light) Changed() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Run keeps the light as On says, until ctx ends; then it is off. Where that can't be done
// it is tried again, and what can be done is done again at times: an LED that was away
// comes back dark.
func (l *Light) Run(ctx context.Context) {
	for failing := soonest; ctx.Err() == nil; {
		wait := latest
		if l.show(l.On()) {
			failing = soonest
		} else {
			wait, failing = failing, longer(failing)
		}
		select {
		case <-ctx.Done():
		case <-l.changed:
		case <-time.After(wait):
		}
	}
	l.show(false)
}

// show brings the LED up to date, and the status.
func (l *Light) show(on bool) bool {
	err := l.write(on)
	state, reason := Ready, ""
	if err != nil {
		state, reason = Searching, err.Error()
	}
	if l.set(state, reason, l.Name) {
		l.Log.Info("light", "state", state, "led", l.Name, "reason", reason)
	}
	return err == nil
}

func (l *Light) write(on bool) error {
	trigger, err := l.read("trigger")
	if err != nil {
		return err
	}
	// What blinks with the processor's load would say that we listen.
	if !bytes.Contains(trigger, []byte("[none]")) {
		if err := l.put("trigger", "none"); err != nil {
			return err
		}
	}
	brightness := 0
	if on {
		text, err := l.read("max_brightness")
		if err != nil {
			return err
		}
		if brightness, err = strconv.Atoi(string(bytes.TrimSpace(text))); err != nil {
			return fmt.Errorf("%s: %w", l.path("max_brightness"), err)
		}
	}
	return l.put("brightness", strconv.Itoa(brightness))
}

func (l *Light) path(file string) string { return filepath.Join(l.root, l.Name, file) }

func (l *Light) read(file string) ([]byte, error) { return os.ReadFile(l.path(file)) }

// put writes to a file that is there: nothing can be created in sysfs.
func (l *Light) put(file, text string) error {
	f, err := os.OpenFile(l.path(file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}
