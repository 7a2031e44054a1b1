package capture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/audio"
)

func TestSpec(t *testing.T) {
	for _, tc := range []struct {
		text string
		want spec
	}{
		{"", spec{gain: true, filter: true}},
		{"default", spec{gain: true, filter: true}},
		{"USB PnP", spec{name: "USB PnP", gain: true, filter: true}},
		{"USB: what? (hw:1,0)", spec{name: "USB: what? (hw:1,0)", gain: true, filter: true}},
		{"device:stdin?gain=off", spec{name: "stdin", filter: true}},
		{"mic?rate=44100&channels=1", spec{name: "mic", gain: true, filter: true, format: audio.Format{Rate: 44100, Channels: 1}}},
		{"file:a b.wav", spec{kind: kindFile, name: "a b.wav"}},
		{"file:what?.wav", spec{kind: kindFile, name: "what?.wav"}},
		{"file:a.wav?speed=max&gain=on", spec{kind: kindFile, name: "a.wav", unpaced: true, gain: true}},
		{"loop:/a=b/c.wav", spec{kind: kindLoop, name: "/a=b/c.wav"}},
		{"mic?channel=3", spec{name: "mic", gain: true, filter: true, channel: 3}},
		{"stdin", spec{kind: kindStdin, format: audio.Format{Rate: 16000, Channels: 1}}},
		{"-?format=f32le&rate=8000&channels=2&filter=on", spec{kind: kindStdin, float: true, filter: true, format: audio.Format{Rate: 8000, Channels: 2}}},
	} {
		if got, err := parseSpec(tc.text, ""); err != nil || got != tc.want {
			t.Errorf("%q: got %+v, %v", tc.text, got, err)
		}
	}
	for text, want := range map[string]string{
		"3":                     "by name",
		"hw:1,0":                "by name",
		"device:2":              "by name",
		"file:":                 "path is missing",
		"file:a.wav?speed=2":    "speed=2: 1 or max",
		"file:a.wav?rate=8000":  `no option "rate"`,
		"mic?speed=max":         `no option "speed"`,
		"mic?gain=loud":         "gain=loud: on or off",
		"stdin?rate=1":          "rate=1: 4000 to 192000",
		"stdin?channels=x":      "channels=x: 1 to 32",
		"stdin?format=mp3":      "s16le or f32le",
		"stdin?channel=each":    "channel=each: mix, or a number",
		"stdin?channel=0":       `channel "0"`,
		"ws://somewhere/stream": "not opened by name",
	} {
		if _, err := Open(t.Context(), text, options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestChoose(t *testing.T) {
	devices := []Device{
		{Name: "HDA Intel PCH: ALC257 Analog (hw:0,0)"},
		{Name: "USB PnP Audio Device: Audio #2 (hw:3,0)"},
		{Name: "USB PnP Audio Device: Audio (hw:2,0)"},
		{Name: "pulse"},
		{Name: "default", Default: true},
	}
	for name, want := range map[string]int{
		"": 4, "pulse": 3, "PULSE": 3, "usb": 1, "usb pnp audio device: audio": 2, "#2": 1,
		"USB PnP Audio Device: Audio #2 (hw:3,0)": 1, "alc257": 0,
	} {
		if got, err := choose(devices, name); err != nil || got != devices[want] {
			t.Errorf("%q: got %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"hw:2", "2,0)", "nobody"} {
		if got, err := choose(devices, name); err == nil {
			t.Errorf("%q: got %+v", name, got)
		}
	}
	if _, err := choose(devices[:1], ""); err == nil || err.Error() != "the system has no default input" {
		t.Errorf("no default: %v", err)
	}
}

func TestFormats(t *testing.T) {
	for _, tc := range []struct {
		name   string
		device Device
		first  audio.Format
	}{
		{"ALSA's 44100 says nothing", Device{Rate: 44100, Channels: 2}, audio.Format{Rate: 48000, Channels: 2}},
		{"its own rate", Device{Rate: 16000, Channels: 1}, audio.Format{Rate: 16000, Channels: 1}},
		{"an array of microphones", Device{Rate: 16000, Channels: 6}, audio.Format{Rate: 16000, Channels: 6}},
		{"any number of channels", Device{Rate: 44100, Channels: 128}, audio.Format{Rate: 48000, Channels: 2}},
		{"no rate", Device{Channels: 1}, audio.Format{Rate: 48000, Channels: 1}},
	} {
		all := formats(tc.device, audio.Format{})
		if all[0] != tc.first {
			t.Errorf("%s: %v goes first, want %v", tc.name, all[0], tc.first)
		}
		for i, f := range all {
			if f.Channels > tc.device.Channels || f.Channels > maxChannels {
				t.Errorf("%s: format %d is %v", tc.name, i, f)
			}
		}
	}
}

// A file comes out as it is, bit for bit: gain and filter are off.
func TestFile(t *testing.T) {
	want := speech(t, 5*time.Second)
	path := filepath.Join(t.TempDir(), "talk.wav")
	writeWAV(t, path, want)
	s := open(t, "file:"+path+"?speed=max", options())
	began := time.Now()
	got, missing := hear(t, s, time.Hour)
	if len(got) != len(want) || missing != 0 {
		t.Fatalf("%d samples, %d missing; want %d", len(got), missing, len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 1.0/32768 {
			t.Fatalf("sample %d is %g, want %g", i, got[i], want[i])
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("5 s took %v", took)
	}
	if status := s.Status(); status.State != Ended || status.Pos != int64(len(want)) {
		t.Errorf("at the end: %+v", status)
	}
	if _, err := Open(t.Context(), "file:"+path+".no", options()); err == nil {
		t.Error("a file that isn't there")
	}
}

// Paced like a microphone: sound comes when it would have been said, and a reader that
// falls too far behind loses some.
func TestFilePaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.wav")
	writeWAV(t, path, sine(440, 0.3, audio.SampleRate, 8*audio.SampleRate))
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), "file:"+path, Options{Convert: options().Convert, OpenFile: options().OpenFile, Buffer: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		began := time.Now()
		pos, missing, slept := int64(0), int64(0), false
		for {
			b, err := s.Read(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			pos += int64(len(b.Samples)) + b.Missing
			missing += b.Missing
			if behind := time.Since(began) - duration(pos); !slept && (behind < 0 || behind > 20*time.Millisecond) {
				t.Fatalf("the sound at %v came at %v", duration(pos), time.Since(began))
			}
			if pos >= 2*audio.SampleRate && !slept {
				time.Sleep(5 * time.Second)
				slept = true
			}
		}
		if pos != 8*audio.SampleRate || missing < samples(1900*time.Millisecond) || missing > samples(2100*time.Millisecond) {
			t.Errorf("%v in all, of which %v are missing, want 8 s and 2 s", duration(pos), duration(missing))
		}
	})
}

func TestLoop(t *testing.T) {
	want := speech(t, time.Second)
	path := filepath.Join(t.TempDir(), "talk.wav")
	writeWAV(t, path, want)
	s := open(t, "loop:"+path+"?speed=max", options())
	got, missing := hear(t, s, 3*time.Second)
	if missing != 0 {
		t.Errorf("%d samples are missing", missing)
	}
	for i := range 3 * len(want) {
		if math.Abs(float64(got[i]-want[i%len(want)])) > 1.0/32768 {
			t.Fatalf("sample %d is %g, want %g", i, got[i], want[i%len(want)])
		}
	}
	writeWAV(t, path, nil)
	s = open(t, "loop:"+path, options())
	if _, err := s.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no sound in it") {
		t.Errorf("a loop of nothing: %v", err)
	}
}

// trickle hands out one byte at a time.
type trickle struct{ in io.Reader }

func (r trickle) Read(p []byte) (int, error) { return r.in.Read(p[:1]) }

func TestStdin(t *testing.T) {
	want := sine(440, 0.5, audio.SampleRate, audio.SampleRate/2)
	var ints, floats []byte
	for _, v := range want {
		ints = binary.LittleEndian.AppendUint16(ints, uint16(int16(math.Round(float64(v)*32768))))
		floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(v))
	}
	var stereo []byte
	for i := range len(want) {
		stereo = append(stereo, ints[2*i:2*i+2]...)
		stereo = append(stereo, ints[2*i:2*i+2]...)
	}
	for _, tc := range []struct {
		spec string
		in   io.Reader
	}{
		{"stdin", bytes.NewReader(ints)},
		{"-", trickle{bytes.NewReader(append(ints[:len(ints):len(ints)], 7))}}, // half a sample at the end
		{"stdin?format=f32le", trickle{bytes.NewReader(floats)}},
		{"stdin?channels=2", bytes.NewReader(stereo)},
	} {
		o := options()
		o.Stdin = tc.in
		o.Buffer = 200 * time.Millisecond // waits for the reader
		s := open(t, tc.spec, o)
		time.Sleep(5 * time.Millisecond)
		got, missing := hear(t, s, time.Hour)
		if len(got) != len(want) || missing != 0 {
			t.Errorf("%s: %d samples, %d missing; want %d", tc.spec, len(got), missing, len(want))
			continue
		}
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 1.0/32768 {
				t.Errorf("%s: sample %d is %g, want %g", tc.spec, i, got[i], want[i])
				break
			}
		}
	}
	o := options()
	if _, err := Open(t.Context(), "stdin", o); err == nil {
		t.Error("no standard input")
	}
	o.Stdin = io.MultiReader(bytes.NewReader(ints), brokenReader{})
	s := open(t, "stdin?rate=48000", o)
	var err error
	for err == nil {
		_, err = s.Read(t.Context())
	}
	if !strings.Contains(err.Error(), "read samples: broken") || s.Status().State != Ended {
		t.Errorf("a broken pipe: %v, %+v", err, s.Status())
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

// From takes any stream, for whoever has one: a network connection, for one.
func TestFrom(t *testing.T) {
	s, err := From(t.Context(), "a client", &raw{in: bytes.NewReader(make([]byte, 2*8000)), format: audio.Format{Rate: 8000, Channels: 1}}, options())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, _ := hear(t, s, time.Hour)
	if len(got) != audio.SampleRate || s.Status().Device != "a client" {
		t.Errorf("%d samples from %+v", len(got), s.Status())
	}
	if _, err := From(t.Context(), "a client", &raw{format: audio.Format{Rate: 1, Channels: 1}}, options()); err == nil {
		t.Error("1 Hz was accepted")
	}
}

// A source ends with its context, whoever is reading.
func TestClose(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	in, out := io.Pipe()
	defer out.Close()
	o.Stdin = in
	s, err := Open(ctx, "stdin", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(make([]byte, 640)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	out.Close()
	for err == nil {
		_, err = s.Read(t.Context())
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoPortAudio(t *testing.T) {
	if Built {
		return // what happens without it can't be seen here
	}
	s := open(t, "", options())
	status := until(t, s, "given a reason", 5*time.Second, func(s Status) bool { return s.Reason != "" })
	if status.Reason != ErrNoPortAudio.Error() {
		t.Errorf("got %+v", status)
	}
	if _, err := Devices(t.Context(), options()); !errors.Is(err, ErrNoPortAudio) {
		t.Errorf("got %v", err)
	}
}

// What the configuration says gives way to what stands in the source.
func TestPreset(t *testing.T) {
	got, err := parseSpec("mic?gain=on", "channel=2&filter=off&gain=off")
	if want := (spec{name: "mic", gain: true, channel: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err = parseSpec("file:what?.wav", "gain=on"); err != nil || got.name != "what?.wav" || !got.gain {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The channel that was asked for is the one that is heard, from each kind of source.
func TestChannel(t *testing.T) {
	quiet, loud := make([]float32, audio.SampleRate), sine(1000, 0.5, audio.SampleRate, audio.SampleRate)
	bytes16 := func() io.Reader {
		var b bytes.Buffer
		for i := range quiet {
			for _, v := range []float32{quiet[i], loud[i], -loud[i]} {
				_ = binary.Write(&b, binary.LittleEndian, int16(v*32767))
			}
		}
		return &b
	}
	for channel, want := range map[string]float64{"mix": -9.03, "1": Quietest, "2": -9.03, "3": -9.03} {
		o := options()
		o.Stdin = bytes16()
		o.Preset = "channel=" + channel
		got, _ := hear(t, open(t, "stdin?channels=3", o), time.Hour)
		if level := dB(got[1600:]); math.Abs(level-want) > 0.1 {
			t.Errorf("channel %s: %.1f dBFS, want %.1f", channel, level, want)
		}
	}
	o := options()
	o.Stdin = bytes16()
	if _, err := Open(t.Context(), "stdin?channel=2", o); err == nil || !strings.Contains(err.Error(), "take channel 2 of 1") {
		t.Errorf("standard input with one channel: %v", err)
	}
	o.OpenFile = func(string) (File, error) {
		return closed{&raw{in: bytes16(), format: audio.Format{Rate: audio.SampleRate, Channels: 3}}}, nil
	}
	if got, _ := hear(t, open(t, "file:x?speed=max&channel=1", o), time.Hour); len(got) != audio.SampleRate || dB(got) != Quietest {
		t.Errorf("a file's quiet channel: %d samples of %.1f dBFS", len(got), dB(got))
	}
	o.Preset = "channel=4"
	if _, err := Open(t.Context(), "file:x", o); err == nil || !strings.Contains(err.Error(), "x: take channel 4 of 3") {
		t.Errorf("a file with three channels: %v", err)
	}
}

// closed is a File that needs no closing.
type closed struct{ audio.Source }

func (closed) Close() error { return nil }
