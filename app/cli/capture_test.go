package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/audio/capture"
)

// TestMain makes the test binary the program too: live sound starts it as
// `earshot capture`, and the NPU's library has its place in `earshot npu worker`.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "capture" || os.Args[1] == "npu") {
		os.Exit(Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// oneDevice has ALSA know a device that gives silence, as fast as it is read.
func oneDevice(t *testing.T) {
	t.Helper()
	if !capture.Built {
		t.Skip(capture.ErrNoPortAudio)
	}
	path := filepath.Join(t.TempDir(), "asound.conf")
	// An infinite file of zeros: ALSA's null alone leaves in the buffer what was there.
	config := "pcm.nothing { type null }\npcm.default { type file slave.pcm nothing file /dev/null infile /dev/zero format raw }\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ALSA_CONFIG_PATH", path)
}

func TestDevices(t *testing.T) {
	oneDevice(t)
	status, out, errs := run(t, nil, "devices", "--json")
	var list struct {
		Devices []struct {
			Name    string
			Default bool
			Level   struct {
				RMS float64 `json:"rms_dbfs"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errs)
	}
	found := false
	for _, d := range list.Devices {
		if d.Name == "default" {
			found = d.Default && d.Level.RMS == -120
		}
	}
	if !found {
		t.Errorf("got %s", out)
	}
	status, out, _ = run(t, nil, "devices")
	if status != 0 || !strings.Contains(out, "* default ") || !strings.Contains(out, "................ -120 dBFS\n") {
		t.Errorf("status %d, %s", status, out)
	}
	status, out, _ = run(t, nil, "devices", "--listen", "0")
	if status != 0 || strings.Contains(out, "dBFS") {
		t.Errorf("without listening: status %d, %s", status, out)
	}
}

// The command that live sound starts: named device, messages on standard output.
func TestCapture(t *testing.T) {
	oneDevice(t)
	status, out, errs := run(t, nil, "capture", "--device", "nobody")
	if status != exitNothing || !strings.HasPrefix(out, "ES\x01e") || !strings.Contains(errs, `no input is named "nobody"`) {
		t.Errorf("status %d, %q, %s", status, out, errs)
	}
	status, out, _ = run(t, nil, "capture", "--list")
	if status != 0 || !strings.HasPrefix(out, "ES\x01f") {
		t.Errorf("status %d, %q", status, out)
	}
	if status, _, errs = run(t, nil, "capture", "--fd", "987"); status != exitNothing {
		t.Errorf("a descriptor that isn't open: status %d, %s", status, errs)
	}
}

func TestDevicesWithoutPortAudio(t *testing.T) {
	if capture.Built {
		return // what happens without it can't be seen here
	}
	status, _, errs := run(t, nil, "devices")
	if status != exitNothing || !strings.Contains(errs, "built without PortAudio") || !strings.Contains(errs, "portaudio19-dev") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// What the sources are made of here: files are opened by content, like everywhere.
func TestCaptureOptions(t *testing.T) {
	s, err := capture.Open(t.Context(), "file:"+sample+"?speed=max", captureOptions(&Env{Stdin: &bytes.Buffer{}}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	end := time.Now().Add(10 * time.Second)
	for s.Status().State != capture.Ended && time.Now().Before(end) {
		if _, err := s.Read(t.Context()); err != nil {
			break
		}
	}
	if pos := s.Status().Pos; pos < 9*16000 {
		t.Errorf("%d samples", pos)
	}
	if _, err := capture.Open(t.Context(), "file:nowhere.wav", captureOptions(&Env{})); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

func TestLevelBar(t *testing.T) {
	for db, want := range map[float64]string{
		-120: "................", -80: "................", -40: "########........", 0: "################", 3: "################",
	} {
		if got := levelBar(db); got != want {
			t.Errorf("%g dBFS: %s, want %s", db, got, want)
		}
	}
}

// The process ends with its parent, whatever it waits for: here nobody reads its pipe.
func TestCaptureEndsWithParent(t *testing.T) {
	oneDevice(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(os.Args[0], "capture", "--until-eof", "--fd", "3")
	cmd.ExtraFiles = []*os.File{write}
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	life.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it did not end by itself: %v", err)
	}
}
