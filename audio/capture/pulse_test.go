package capture

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/audio"
	"earshot/audio/capture/pulsetest"
	"earshot/audio/wave"
)

// lacks is what keeps this program from opening sound devices.
func lacks() error {
	if !Built {
		return ErrNoPortAudio
	}
	return nil
}

// pulse is a sound server that PortAudio finds under the name pulsetest.Monitor.
type pulse struct {
	*pulsetest.Server
	t *testing.T
}

// newPulse makes a place for a sound server, and lets this process know about it.
func newPulse(t *testing.T) *pulse {
	pulsetest.Need(t, lacks(), "pulseaudio", "paplay")
	p := &pulse{Server: pulsetest.New(t), t: t}
	for _, v := range p.Env {
		setenv(t, v)
	}
	return p
}

// play plays samples of 16 kHz.
func (p *pulse) play(sound []float32) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "play.wav")
	writeWAV(p.t, path, sound)
	p.Play(path)
}

// alsa has ALSA know the devices in config only.
func alsa(t *testing.T, config string) {
	t.Helper()
	setenv(t, pulsetest.ALSA(t, config))
}

func setenv(t *testing.T, v string) {
	name, value, _ := strings.Cut(v, "=")
	t.Setenv(name, value)
}

// speech is the beginning of the sample recording.
func speech(t *testing.T, d time.Duration) []float32 {
	t.Helper()
	f, err := wave.Open("../testdata/sample.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := audio.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return all[:samples(d)]
}

// find returns where in sound part stands, and the correlation there.
func find(sound, part []float32) (at int, correlation float64) {
	energy := 0.0
	for _, v := range part {
		energy += float64(v) * float64(v)
	}
	own := 0.0
	for _, v := range sound[:len(part)] {
		own += float64(v) * float64(v)
	}
	for i := 0; i+len(part) <= len(sound); i++ {
		sum := float32(0)
		for k, v := range part {
			sum += v * sound[i+k]
		}
		if c := float64(sum) / math.Sqrt(energy*own+1e-9); c > correlation {
			at, correlation = i, c
		}
		if i+len(part) < len(sound) {
			own += float64(sound[i+len(part)])*float64(sound[i+len(part)]) - float64(sound[i])*float64(sound[i])
		}
	}
	return at, correlation
}

// same checks that all of want is in got, without a sample more or less in between.
func same(t *testing.T, got, want []float32) {
	t.Helper()
	const part = audio.SampleRate / 4
	first, c := find(got[:min(len(got), 5*audio.SampleRate/2)], want[:part])
	if c < 0.98 {
		t.Fatalf("the beginning is not there: correlation %.3f", c)
	}
	for from := part; from+part <= len(want); from += part {
		piece := want[from : from+part]
		if dB(piece) < -50 {
			continue // nothing to compare
		}
		const around = 400
		low := first + from - around
		if low+part+2*around > len(got) {
			t.Fatalf("%d samples came; the end is missing from %d of %d on", len(got), from, len(want))
		}
		at, c := find(got[low:low+part+2*around], piece)
		if c < 0.95 || at < around-1 || at > around+1 {
			t.Errorf("the sound at %d is off by %d samples, correlation %.3f", from, at-around, c)
		}
	}
}

// What is played comes out of the monitor: nothing lost, at the right rate and length.
func TestPulse(t *testing.T) {
	p := newPulse(t)
	p.Start()
	s := open(t, "null monitor?gain=off&filter=off", options())
	drained := until(t, s, "running", 10*time.Second, is(Running))
	if drained.Device != "Null Monitor" || drained.Format != (audio.Format{Rate: 48000, Channels: 2}) {
		t.Errorf("opened %q in %+v", drained.Device, drained.Format)
	}
	want := speech(t, 3*time.Second)
	played := make(chan struct{})
	go func() { defer close(played); p.play(want) }()
	began := time.Now()
	got, missing := hear(t, s, 5*time.Second)
	took := time.Since(began)
	<-played
	if missing != 0 {
		t.Errorf("%d samples are missing", missing)
	}
	if took < 4*time.Second || took > 6*time.Second {
		t.Errorf("5 s of sound came in %v", took)
	}
	same(t, got, want)
	t.Run("levels", func(t *testing.T) {
		devices, err := Devices(t.Context(), options())
		if err != nil {
			t.Fatal(err)
		}
		i := len(devices) - 1
		for i >= 0 && devices[i].Name != "Null Monitor" {
			i--
		}
		if i < 0 || devices[i].System != "ALSA" || devices[i].Channels < 2 {
			t.Fatalf("the devices are %+v", devices)
		}
		played := make(chan struct{})
		go func() { defer close(played); p.play(sine(500, 0.5, audio.SampleRate, 3*audio.SampleRate)) }()
		level, err := Measure(t.Context(), devices[i], 1500*time.Millisecond, options())
		if err != nil {
			t.Fatal(err)
		}
		<-played
		if level.Peak < -8 || level.Peak > -4 || level.RMS < -11 || level.RMS > -8 {
			t.Errorf("a tone of -6 dBFS is at %+v", level)
		}
		if _, err := Measure(t.Context(), Device{Name: "nobody"}, time.Second, options()); err == nil || !strings.Contains(err.Error(), `no input is named "nobody"`) {
			t.Errorf("a device that isn't there: %v", err)
		}
	})
}

// child is the capture process that the test has now.
func child(t *testing.T) int {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		text, _ := os.ReadFile(path) // processes come and go
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if strings.Contains(string(text), "capture\x00--fd") && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("there is no capture process")
	return 0
}

// What goes wrong on the way has one cure. After each fault sound comes again, with the
// gap marked, as long as it was.
func TestFaults(t *testing.T) {
	p := newPulse(t)
	p.Start()
	s := open(t, "Null Monitor?gain=off&filter=off", options())
	until(t, s, "running", 10*time.Second, is(Running))
	began := time.Now()
	start := s.Status().Pos
	drain(t, s)
	for _, fault := range []struct {
		name, reason string
		inject       func()
		back         func()
	}{
		{"killed", "signal: killed", func() { _ = syscall.Kill(child(t), syscall.SIGKILL) }, func() {}},
		{"stopped", "hangs", func() { _ = syscall.Kill(child(t), syscall.SIGSTOP) }, func() {}},
		{"unplugged", "", p.Stop, func() { time.Sleep(time.Second); p.Start() }},
	} {
		t.Run(fault.name, func(t *testing.T) {
			fault.inject()
			lost := until(t, s, "lost", 2*time.Second, is(Lost))
			if !strings.Contains(lost.Reason, fault.reason) {
				t.Errorf("the reason is %q, want %q", lost.Reason, fault.reason)
			}
			fault.back()
			until(t, s, "running again", 20*time.Second, is(Running))
			time.Sleep(300 * time.Millisecond)
			status := s.Status()
			last := status.History[len(status.History)-1]
			if last.Gap < audio.SampleRate/4 || last.Pos+last.Gap > status.Pos {
				t.Errorf("the gap is marked as %+v", last)
			}
		})
	}
	// The sample clock and that of the machine went on together.
	status := s.Status()
	clock := duration(status.Pos - start)
	if off := time.Since(began) - clock; off < -500*time.Millisecond || off > 500*time.Millisecond {
		t.Errorf("the sample clock went on by %v in %v", clock, time.Since(began))
	}
	t.Logf("missing %v of %v", duration(status.Missing), clock)
}

// A device that is not there at the start is waited for; the clock starts with it.
func TestAbsent(t *testing.T) {
	p := newPulse(t)
	config := fmt.Sprintf("pcm.default { type pulse server \"unix:%s\" }\n", p.Socket())
	alsa(t, config)
	s := open(t, "Null Monitor", options())
	status := until(t, s, "given a reason", 3*time.Second, func(s Status) bool { return s.Reason != "" })
	if status.State != Searching || !strings.Contains(status.Reason, "no sound input") {
		t.Errorf("without a device: %+v", status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if b, err := s.Read(ctx); err == nil {
		t.Errorf("a block before there is a device: %+v", b)
	}
	p.Start()
	config += fmt.Sprintf(`pcm."Null Monitor" { type pulse server "unix:%s" device "earshot.monitor" }`, p.Socket())
	if err := os.WriteFile(os.Getenv("ALSA_CONFIG_PATH"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, s, "running", 15*time.Second, is(Running))
	if _, missing := hear(t, s, time.Second); missing != 0 {
		t.Errorf("%d samples are missing before the first one", missing)
	}
}

// Devices made by ALSA's plug-ins, which know no real time: a file instead of a
// microphone, and one that has 4 channels.
func TestALSA(t *testing.T) {
	pulsetest.Need(t, lacks())
	tone := sine(1000, 0.5, 48000, 48000)
	var file []byte
	for _, v := range tone { // the plug-in reads what PortAudio prefers: float32, here stereo
		for range 2 {
			file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
		}
	}
	path := filepath.Join(t.TempDir(), "tone.raw")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	alsa(t, fmt.Sprintf(`pcm.default { type null }
pcm.nothing { type null }
pcm.tone { type file slave.pcm "nothing" file "/dev/null" infile "%s" format "raw" }
pcm.four { type multi slaves.a { pcm "nothing" channels 4 }
  bindings.0 { slave a channel 0 } bindings.1 { slave a channel 1 }
  bindings.2 { slave a channel 2 } bindings.3 { slave a channel 3 } }`, path))
	t.Run("file", func(t *testing.T) {
		s := open(t, "tone?channels=2&rate=48000&gain=off&filter=off", options())
		got, _ := hear(t, s, 500*time.Millisecond)
		if level := dB(got[1600:8000]); math.Abs(level+9.03) > 0.2 {
			t.Errorf("the tone is at %.2f dBFS, want -9.03", level)
		}
	})
	t.Run("four channels", func(t *testing.T) {
		s := open(t, "four", options())
		if status := until(t, s, "running", 5*time.Second, is(Running)); status.Format.Channels != 4 {
			t.Errorf("opened with %+v", status.Format)
		}
	})
	t.Run("refused", func(t *testing.T) {
		s := open(t, "four?channels=6", options())
		status := until(t, s, "refused", 5*time.Second, func(s Status) bool { return s.Reason != "" })
		if status.State != Searching || !strings.Contains(status.Reason, `open "four"`) || !strings.Contains(status.Reason, "it has 4 channels") {
			t.Errorf("got %+v", status)
		}
	})
}
