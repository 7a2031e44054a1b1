package panel

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of linux/uinput.h.
const (
	uiDevCreate = 'U'<<8 | 1
	uiDevSetup  = iocWrite | 92<<16 | 'U'<<8 | 3
	uiSetEvBit  = iocWrite | 4<<16 | 'U'<<8 | 100
	uiSetKeyBit = iocWrite | 4<<16 | 'U'<<8 | 101
	uiSetLEDBit = iocWrite | 4<<16 | 'U'<<8 | 105
	uiSetSwBit  = iocWrite | 4<<16 | 'U'<<8 | 109
)

const evLED = 0x11

// virtual is an input device that the kernel makes of this process.
type virtual struct{ *os.File }

func newVirtual(t *testing.T, name string, codes ...Code) virtual {
	t.Helper()
	f, err := os.OpenFile("/dev/uinput", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no way to make an input device here: %v", err)
	}
	t.Cleanup(func() { f.Close() }) // that unplugs it
	set := func(request uint, n uint16) {
		t.Helper()
		if err := unix.IoctlSetInt(int(f.Fd()), request, int(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range codes {
		set(uiSetEvBit, c.kind)
		set(map[uint16]uint{evKey: uiSetKeyBit, evLED: uiSetLEDBit, evSwitch: uiSetSwBit}[c.kind], c.number)
	}
	// struct uinput_setup: bus, vendor, product, version; name; number of effects.
	var setup struct {
		id      [4]uint16
		name    [80]byte
		effects uint32
	}
	copy(setup.name[:], name)
	if err := call(f, uiDevSetup, unsafe.Pointer(&setup)); err != nil {
		t.Fatal(err)
	}
	if err := call(f, uiDevCreate, nil); err != nil {
		t.Fatal(err)
	}
	return virtual{f}
}

func (v virtual) say(t *testing.T, all ...event) {
	t.Helper()
	for _, e := range all {
		if _, err := v.Write(events(e)); err != nil {
			t.Fatal(err)
		}
	}
}

// next waits for what a key reports.
func next(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(20 * time.Second):
		t.Fatal("nothing comes")
		return ""
	}
}

func code(t *testing.T, text string) Code {
	t.Helper()
	c, err := ParseCode(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestUinput plugs in a keyboard with the key, and a case with the switch, through the
// kernel: presses count, nothing else that is typed arrives, positions are known at once,
// and what is unplugged is a state.
func TestUinput(t *testing.T) {
	mic, mute, letter := code(t, "KEY_MICMUTE"), code(t, "SW_MUTE_DEVICE"), code(t, "key:30")
	keyboard := newVirtual(t, "earshot test keyboard", mic, letter)
	k, heard := NewKey(mic), make(chan string, 10)
	k.Device = "earshot test keyboard"
	k.Pressed = func() { heard <- "pressed" }
	var sent bytes.Buffer
	k.open = func(path string, c Code) (*input, error) {
		d, err := openInput(path, c)
		if d != nil && d.name == k.Device {
			d.ReadCloser = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(d.ReadCloser, &sent), d.ReadCloser}
		}
		return d, err
	}
	run(t, k)
	waitFor(t, &k.status, Ready)
	keyboard.say(t, event{evKey, letter.number, 1}, syn, event{evKey, letter.number, 0}, syn, event{evKey, mic.number, 1}, syn, event{evKey, mic.number, 0}, syn, event{evKey, mic.number, 1}, syn)
	for range 2 {
		next(t, heard)
	}

	c := newVirtual(t, "earshot test case", mute)
	c.say(t, event{evSwitch, mute.number, 1}, syn)
	s := NewKey(mute)
	s.Device = "earshot test case"
	s.Moved = func(on bool) { heard <- map[bool]string{true: "on", false: "off"}[on] }
	run(t, s)
	if got := next(t, heard); got != "on" {
		t.Errorf("the switch is %s at first", got)
	}
	c.say(t, event{evSwitch, mute.number, 0}, syn)
	if got := next(t, heard); got != "off" {
		t.Errorf("the switch is %s", got)
	}
	keyboard.Close()
	c.Close()
	waitFor(t, &k.status, Searching)
	waitFor(t, &s.status, Searching)
	_ = readEvents(&sent, func(e event) { // it is at its end
		if e.code == letter.number {
			t.Errorf("of what is typed, %+v got here", e)
		}
	})
}

func waitFor(t *testing.T, s *status, state State) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.Status().State != state; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s: %+v", state, s.Status())
		}
	}
}

// TestKeyboardLED lights an LED that the kernel has for a keyboard.
func TestKeyboardLED(t *testing.T) {
	const muteLED = 7
	keyboard := newVirtual(t, "earshot test light", Code{kind: evLED, number: muteLED})
	var name string
	for deadline := time.Now().Add(5 * time.Second); name == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		all, _ := filepath.Glob("/sys/class/leds/*::mute")
		for _, path := range all {
			if of, _ := os.ReadFile(filepath.Join(path, "device/name")); string(of) == "earshot test light\n" {
				name = filepath.Base(path)
			}
		}
	}
	if name == "" {
		t.Skip("this kernel has no LED for a keyboard's (CONFIG_INPUT_LEDS)")
	}
	shown := make(chan int32)
	go func() {
		_ = readEvents(keyboard, func(e event) { // ends with the test
			if e.kind == evLED && e.code == muteLED {
				shown <- e.value
			}
		})
	}()
	l, on := NewLight(name), new(atomic.Bool)
	l.On = on.Load
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	waitFor(t, &l.status, Ready)
	on.Store(true)
	l.Changed()
	if got := <-shown; got != 1 {
		t.Errorf("set, it is %d", got)
	}
	stop()
	if got := <-shown; got != 0 {
		t.Errorf("at the end it is %d", got)
	}
	<-ended
}
