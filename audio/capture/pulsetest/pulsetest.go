// Package pulsetest gives tests a sound server of their own, with a sink that plays into
// nothing: what is played there can be recorded from its monitor, in real time.
package pulsetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Monitor is the name under which PortAudio finds what is played.
const Monitor = "Null Monitor"

// Need skips a test that can't run on this machine. lacks is what the test's program
// lacks, nil for nothing. CI must run all; a build without C can't have PortAudio.
func Need(t testing.TB, lacks error, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a real device's time")
	}
	missing := ""
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = p + " is not installed (apt-get install pulseaudio pulseaudio-utils libasound2-plugins)"
		}
	}
	if lacks != nil {
		missing = lacks.Error()
	}
	if missing == "" {
		return
	}
	if os.Getenv("CI") == "true" && os.Getenv("CGO_ENABLED") != "0" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

// Server is a PulseAudio server.
type Server struct {
	// Env are the variables, as "NAME=value", with which a program finds the server, and
	// nothing else, through PulseAudio and through ALSA.
	Env []string

	t   testing.TB
	dir string
	cmd *exec.Cmd
	log bytes.Buffer
}

// New makes a place for a server, which ends with the test. Need says what it takes.
func New(t testing.TB) *Server {
	s := &Server{t: t, dir: t.TempDir()}
	s.Env = []string{
		"HOME=" + s.dir, "XDG_RUNTIME_DIR=" + s.dir, "PULSE_RUNTIME_PATH=" + s.dir, "PULSE_SERVER=unix:" + s.Socket(),
		ALSA(t, fmt.Sprintf(`pcm.!default { type pulse server "unix:%s" }
pcm."%s" { type pulse server "unix:%[1]s" device "earshot.monitor" }`, s.Socket(), Monitor)),
	}
	t.Cleanup(s.Stop)
	return s
}

// ALSA writes a configuration and returns the variable with which ALSA knows the devices
// in it only. PortAudio 19.6 fails an assertion where none is named default.
func ALSA(t testing.TB, config string) (env string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "asound.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return "ALSA_CONFIG_PATH=" + path
}

// Socket is where the server takes connections.
func (s *Server) Socket() string { return filepath.Join(s.dir, "native") }

// Start starts the server and waits until it takes connections.
func (s *Server) Start() {
	s.t.Helper()
	s.log.Reset()
	s.cmd = s.command("pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1",
		"--resample-method=speex-float-8", "--realtime=no", "--high-priority=no", "--disable-shm=yes", "--log-target=stderr",
		"-L", "module-native-protocol-unix auth-anonymous=1 socket="+s.Socket(),
		"-L", "module-null-sink sink_name=earshot rate=48000 channels=2")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if s.command("pactl", "info").Run() == nil {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("pulseaudio takes no connections:\n%s", s.log.String())
		}
	}
}

// Stop kills the server, as a crash would.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may be gone
	_ = s.cmd.Wait()
	_ = os.Remove(s.Socket())
	s.cmd = nil
}

// Play plays a file to its end.
func (s *Server) Play(path string) {
	s.t.Helper()
	if out, err := s.command("paplay", "--device=earshot", path).CombinedOutput(); err != nil {
		s.t.Errorf("paplay: %v\n%s", err, out)
	}
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.Env...)
	return cmd
}
