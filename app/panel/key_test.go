package panel

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recorded is one press of KEY_MICMUTE, as Linux 6.1 sent it (amd64; TestUinput).
func recorded(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/micmute.events")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// events writes events as the kernel does.
func events(all ...event) []byte {
	var b []byte
	for _, e := range all {
		b = append(b, make([]byte, 16)...)
		b = binary.NativeEndian.AppendUint16(b, e.kind)
		b = binary.NativeEndian.AppendUint16(b, e.code)
		b = binary.NativeEndian.AppendUint32(b, uint32(e.value))
	}
	return b
}

var syn = event{kind: evSyn}

// board is a folder with input devices, and what they are.
type board struct {
	t   *testing.T
	dir string

	mu      sync.Mutex
	devices map[string]*device
	opened  map[string]int
	heard   []string // presses and moves
}

type device struct {
	name string
	has  string // a code
	on   bool
	in   *io.PipeWriter
	fail error
}

func newBoard(t *testing.T) *board {
	return &board{t: t, dir: t.TempDir(), devices: map[string]*device{}, opened: map[string]int{}}
}

// plug puts a device in the folder.
func (b *board) plug(file string, d *device) *device {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, file), nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.devices[file] = d
	return d
}

// unplug takes it away.
func (b *board) unplug(file string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.dir, file)); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.devices[file].in.CloseWithError(errors.New("no such device"))
}

func (b *board) open(path string, c Code) (*input, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	file := filepath.Base(path)
	b.opened[file]++
	d := b.devices[file]
	if d.fail != nil || d.has != c.String() {
		return nil, d.fail
	}
	out, in := io.Pipe()
	d.in = in
	opened := &input{ReadCloser: out, name: d.name}
	if c.IsSwitch() {
		opened.on = func() (bool, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return d.on, nil
		}
	}
	return opened, nil
}

func (b *board) hear(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = append(b.heard, what)
}

func (b *board) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.heard, " ")
}

func (b *board) times(file string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened[file]
}

// key runs a key on the board.
func (b *board) key(code string) *Key {
	b.t.Helper()
	c, err := ParseCode(code)
	if err != nil {
		b.t.Fatal(err)
	}
	k := NewKey(c)
	k.dir, k.open = b.dir, b.open
	k.Pressed = func() { b.hear("pressed") }
	k.Moved = func(on bool) { b.hear(map[bool]string{true: "on", false: "off"}[on]) }
	return k
}

func run(t *testing.T, part interface{ Run(context.Context) }) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); part.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
}

func (d *device) say(t *testing.T, b []byte) {
	t.Helper()
	synctest.Wait() // until it is open
	if _, err := d.in.Write(b); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestKey: a press counts once, however long; other keys don't.
func TestKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		d := b.plug("event0", &device{name: "gpio-keys", has: "KEY_MICMUTE"})
		k := b.key("KEY_MICMUTE")
		run(t, k)
		synctest.Wait()
		if s := k.Status(); s.State != Ready || s.Device != "gpio-keys" {
			t.Fatalf("status: %+v", s)
		}
		one := recorded(t)
		d.say(t, one[:eventBytes/2])
		d.say(t, one[eventBytes/2:])
		if got := b.all(); got != "pressed" {
			t.Errorf("recorded: %q", got)
		}
		mic := k.Code.number
		d.say(t, events(event{evKey, mic, 1}, syn, event{evKey, mic, 2}, syn, event{evKey, mic, 0}, syn, event{evKey, 113, 1}, event{evSwitch, mic, 1}, event{evSyn, synDropped, 0}))
		if got := b.all(); got != "pressed pressed" {
			t.Errorf("repeated: %q", got)
		}
	})
}

// TestSwitch: its position counts from the start on, and again where events were lost.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		d := b.plug("event0", &device{name: "gpio-keys", has: "SW_MUTE_DEVICE", on: true})
		k := b.key("SW_MUTE_DEVICE")
		run(t, k)
		synctest.Wait()
		n := k.Code.number
		d.say(t, events(event{evSwitch, n, 0}, syn, event{evSwitch, n, 1}, syn, event{evKey, n, 1}))
		b.mu.Lock()
		d.on = false
		b.mu.Unlock()
		d.say(t, events(event{evSyn, synDropped, 0}))
		if got := b.all(); got != "on off on off" {
			t.Errorf("%q", got)
		}
	})
}

// TestUnplugged: a key that comes, goes and comes back as another device is a state, and
// not tried more often than makes sense.
func TestUnplugged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.plug("event0", &device{name: "Power Button", has: "key:116"})
		b.plug("mouse0", &device{name: "none"})
		k := b.key("KEY_MICMUTE")
		run(t, k)
		time.Sleep(time.Minute)
		if s := k.Status(); s.State != Searching || s.Reason != "no input device has KEY_MICMUTE" || time.Since(s.Since) < 59*time.Second {
			t.Errorf("absent: %+v", s)
		}
		if n := b.times("event0"); n != 1 || b.times("mouse0") != 0 {
			t.Errorf("a device without the key was opened %d times", n)
		}
		b.plug("event1", &device{name: "headset", has: "KEY_MICMUTE"})
		time.Sleep(latest + time.Millisecond)
		if s := k.Status(); s.State != Ready || s.Device != "headset" {
			t.Errorf("plugged in: %+v", s)
		}
		b.unplug("event1")
		synctest.Wait()
		if s := k.Status(); s.State != Searching || s.Reason != "headset: no such device" {
			t.Errorf("unplugged: %+v", s)
		}
		d := b.plug("event2", &device{name: "headset", has: "KEY_MICMUTE"})
		time.Sleep(latest + time.Millisecond)
		d.say(t, recorded(t))
		if got := b.all(); got != "pressed" {
			t.Errorf("%q", got)
		}
		// The second key works beside it.
		e := b.plug("event3", &device{name: "another", has: "KEY_MICMUTE"})
		time.Sleep(latest + time.Millisecond)
		e.say(t, recorded(t))
		if s := k.Status(); s.Device != "another, headset" || b.all() != "pressed pressed" {
			t.Errorf("two: %+v, %q", s, b.all())
		}
	})
}

// TestUnusable: what can't be opened says why and is tried again, at most every few
// seconds, also where it opens and ends at once.
func TestUnusable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		d := b.plug("event0", &device{name: "gpio-keys", has: "KEY_MICMUTE", fail: os.ErrPermission})
		k := b.key("KEY_MICMUTE")
		run(t, k)
		time.Sleep(time.Minute)
		if s := k.Status(); s.State != Searching || !strings.Contains(s.Reason, "permission") {
			t.Errorf("forbidden: %+v", s)
		}
		if n := b.times("event0"); n < 10 || n > 16 {
			t.Errorf("tried %d times in a minute", n)
		}
		b.mu.Lock()
		d.fail = nil
		b.mu.Unlock()
		time.Sleep(latest)
		before := b.times("event0")
		for range 60 {
			b.mu.Lock()
			d.in.Close()
			b.mu.Unlock()
			time.Sleep(time.Second)
		}
		if n := b.times("event0") - before; n < 8 || n > 20 {
			t.Errorf("opened %d times in a minute", n)
		}
	})
}

// TestDevice: of several that have the key one can be chosen.
func TestDevice(t *testing.T) {
	for chosen, want := range map[string]string{"": "gpio-keys, keyboard", "GPIO": "gpio-keys", "event1": "keyboard", "joystick": ""} {
		synctest.Test(t, func(t *testing.T) {
			b := newBoard(t)
			b.plug("event0", &device{name: "gpio-keys", has: "KEY_MICMUTE"})
			b.plug("event1", &device{name: "keyboard", has: "KEY_MICMUTE"})
			k := b.key("KEY_MICMUTE")
			if k.Device = chosen; strings.HasPrefix(chosen, "event") {
				k.Device = filepath.Join(b.dir, chosen)
			}
			run(t, k)
			synctest.Wait()
			if s := k.Status(); s.Device != want || (s.State == Ready) != (want != "") {
				t.Errorf("%q: %+v", chosen, s)
			}
		})
	}
}

func TestParseCode(t *testing.T) {
	for text, want := range map[string]Code{
		"KEY_MICMUTE": {evKey, 248, ""}, "SW_MUTE_DEVICE": {evSwitch, 14, ""}, "key:0x100": {evKey, 256, ""}, "key:767": {evKey, 767, ""}, "switch:16": {evSwitch, 16, ""},
	} {
		want.name = text
		if got, err := ParseCode(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "KEY_NONE", "key:", "key:768", "switch:17", "key:-1", "led:1", "key_micmute"} {
		if got, err := ParseCode(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// FuzzKey wants that whatever a device sends, there are no more presses than events.
func FuzzKey(f *testing.F) {
	f.Add(recorded(f))
	f.Add(events(event{evSwitch, 14, -1}, event{evSyn, synDropped, 9}))
	c, _ := ParseCode("KEY_MICMUTE")
	f.Fuzz(func(t *testing.T, sent []byte) {
		presses := 0
		k := NewKey(c)
		k.Pressed = func() { presses++ }
		k.read(t.Context(), "device", &input{ReadCloser: io.NopCloser(strings.NewReader(string(sent)))})
		if presses > len(sent)/eventBytes {
			t.Errorf("%d presses in %d bytes", presses, len(sent))
		}
	})
}
