package panel

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// leds is a folder that looks like /sys/class/leds, with an LED that blinks.
func leds(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	addLED(t, root)
	return root
}

func addLED(t *testing.T, root string) {
	t.Helper()
	dir := filepath.Join(root, "rec")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"brightness": "0\n", "max_brightness": "255\n", "trigger": "[heartbeat] none timer\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// led is what a file of the LED was last set to. (What stands there is longer: sysfs
// would not keep the old text.)
func led(t *testing.T, root, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "rec", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func lit(t *testing.T, root string) bool {
	t.Helper()
	return strings.HasPrefix(led(t, root, "brightness"), "255")
}

func newTestLight(root string) (*Light, *atomic.Bool) {
	l, on := NewLight("rec"), new(atomic.Bool)
	l.root, l.On = root, on.Load
	return l, on
}

// TestLight is on and off as it is told, blinks no more, and is off at the end.
func TestLight(t *testing.T) {
	root := leds(t)
	synctest.Test(t, func(t *testing.T) {
		l, set := newTestLight(root)
		run(t, l)
		synctest.Wait()
		if lit(t, root) || !strings.HasPrefix(led(t, root, "trigger"), "none") {
			t.Errorf("at first: %q, trigger %q", led(t, root, "brightness"), led(t, root, "trigger"))
		}
		for _, on := range []bool{true, true, false, true} {
			set.Store(on)
			l.Changed()
			synctest.Wait()
			if lit(t, root) != on {
				t.Errorf("set to %v: %q", on, led(t, root, "brightness"))
			}
		}
		if s := l.Status(); s.State != Ready || s.Device != "rec" || s.Reason != "" {
			t.Errorf("status: %+v", s)
		}
	})
	if lit(t, root) {
		t.Error("lit at the end")
	}
}

// TestLightMissing: an LED that is not there is a state; once it is, it shows the truth.
func TestLightMissing(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, set := newTestLight(root)
		set.Store(true)
		run(t, l)
		time.Sleep(time.Minute)
		if s := l.Status(); s.State != Searching || !strings.Contains(s.Reason, filepath.Join(root, "rec")) || time.Since(s.Since) < 59*time.Second {
			t.Errorf("absent: %+v", s)
		}
		if entries, _ := os.ReadDir(root); len(entries) != 0 {
			t.Errorf("made %v", entries)
		}
		addLED(t, root)
		time.Sleep(latest + time.Millisecond)
		if s := l.Status(); s.State != Ready || !lit(t, root) {
			t.Errorf("there: %+v", s)
		}
		if err := os.RemoveAll(filepath.Join(root, "rec")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(latest + time.Millisecond)
		if s := l.Status(); s.State != Searching {
			t.Errorf("gone: %+v", s)
		}
		addLED(t, root)
		time.Sleep(latest + time.Millisecond)
		if !lit(t, root) {
			t.Errorf("back: %q", led(t, root, "brightness"))
		}
		if err := os.WriteFile(filepath.Join(root, "rec", "max_brightness"), []byte("much"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(latest + time.Millisecond)
		if s := l.Status(); s.State != Searching || !strings.Contains(s.Reason, "max_brightness") {
			t.Errorf("nonsense: %+v", s)
		}
	})
}
