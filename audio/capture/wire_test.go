package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"earshot/audio"
)

// wired is what a writer made.
func wired(t testing.TB, write ...func(*wireWriter) error) []byte {
	t.Helper()
	var out bytes.Buffer
	w := &wireWriter{out: &out}
	for _, f := range write {
		if err := f(w); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func opened(rate, channels int) func(*wireWriter) error {
	return func(w *wireWriter) error { return w.json(msgOpened, audio.Format{Rate: rate, Channels: channels}) }
}

func found(d Device) func(*wireWriter) error {
	return func(w *wireWriter) error { return w.json(msgFound, d) }
}

func sound(s ...float32) func(*wireWriter) error {
	return func(w *wireWriter) error { return w.sound(s) }
}

func lost(n uint64) func(*wireWriter) error {
	return func(w *wireWriter) error { return w.overflow(n) }
}

func ended(text string) func(*wireWriter) error {
	return func(w *wireWriter) error { return w.failed(failure{Text: text}) }
}

func TestWire(t *testing.T) {
	nan := float32(math.NaN())
	r := newWireReader(bytes.NewReader(wired(t, found(usb), opened(48000, 2), sound(0.5, -0.5, nan, 7), lost(960), sound(1, 1), ended(strings.Repeat("\x01", 1<<17)))))
	var got []message
	for {
		m, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		m.samples = append([]float32(nil), m.samples...)
		got = append(got, m)
	}
	if len(got) != 6 {
		t.Fatalf("%d messages", len(got))
	}
	device := usb
	device.index = 0 // stays in the process
	if got[0].device != device || got[1].format != (audio.Format{Rate: 48000, Channels: 2}) || got[3].frames != 960 {
		t.Errorf("got %+v", got)
	}
	for i, want := range []float32{0.5, -0.5, 0, 1} {
		if got[2].samples[i] != want {
			t.Errorf("sample %d is %g, want %g", i, got[2].samples[i], want)
		}
	}
	if f := got[5].failure; len(f.Text) != maxErrorBytes/8 {
		t.Errorf("the failure has %d bytes", len(f.Text))
	}
}

func TestWireGarbage(t *testing.T) {
	good := wired(t, opened(16000, 1))
	header := func(kind messageType, size uint32) []byte {
		return binary.LittleEndian.AppendUint32([]byte{'E', 'S', wireVersion, byte(kind)}, size)
	}
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"text", []byte("Cannot connect to server socket\n"), `no message begins with "Cannot c"`},
		{"version", append([]byte("ES\x02s"), 0, 0, 0, 0), "no message begins with"},
		{"half a header", good[:5], "ends within a header"},
		{"half a body", good[:len(good)-1], "ends within a message of type 'o'"},
		{"unknown type", header('z', 4), "message of type 'z'"},
		{"huge", slices.Concat(good, header(msgSamples, 0xffffffff)), "with 4294967295 bytes"},
		{"too long", slices.Concat(good, header(msgSamples, maxSampleBytes+4)), "bytes"},
		{"empty", slices.Concat(good, header(msgSamples, 0)), "with 0 bytes"},
		{"half a frame", append(wired(t, opened(16000, 2)), header(msgSamples, 12)...), "with 12 bytes"},
		{"samples first", wired(t, sound(1)), "out of order"},
		{"overflow first", wired(t, lost(1)), "out of order"},
		{"opened twice", wired(t, opened(16000, 1), opened(48000, 1)), "out of order"},
		{"overflow without end", wired(t, opened(16000, 1), lost(math.MaxUint64)), "an overflow of"},
		{"no rate", wired(t, opened(0, 1)), "a format of 0 Hz"},
		{"many channels", wired(t, opened(16000, 1<<30)), "channels"},
		{"no JSON", append(header(msgFound, 3), "abc"...), "message of type 'f': invalid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newWireReader(bytes.NewReader(tc.data))
			var err error
			for err == nil {
				_, err = r.next()
			}
			if !errors.Is(err, errGarbage) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if cap(r.body) > maxSampleBytes {
				t.Errorf("a buffer of %d bytes", cap(r.body))
			}
		})
	}
}

// FuzzWire: whatever a capture process sends is messages, garbage, or the end.
func FuzzWire(f *testing.F) {
	f.Add(wired(f, found(usb), opened(48000, 2), sound(0.5, -0.5), lost(960), ended("gone")))
	f.Add([]byte("ES\x01s\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newWireReader(bytes.NewReader(data))
		for {
			m, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, errGarbage) {
					t.Fatalf("an error of another kind: %v", err)
				}
				return
			}
			if m.kind == msgSamples && (len(m.samples) == 0 || len(m.samples)%r.format.Channels != 0) {
				t.Fatalf("%d samples of %d channels", len(m.samples), r.format.Channels)
			}
			for _, s := range m.samples {
				if !(s >= -1 && s <= 1) {
					t.Fatalf("a sample of %g", s)
				}
			}
		}
	})
}
