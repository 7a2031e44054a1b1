package capture

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a capture process that was started.
type process struct {
	out  io.Reader     // its messages
	kill func()        // ends it, at once; out then ends as well
	gone chan struct{} // closed when it has ended
	left func() string // after gone: how it ended, and what it said
}

// A process that has nothing more to say has exitWait to end by itself; then it is
// killed. One that hangs inside a driver goes only when the driver lets it: we wait
// for deathWait.
const (
	exitWait  = 200 * time.Millisecond
	deathWait = 500 * time.Millisecond
)

// end ends the process and returns what it leaves to say.
func (p *process) end() string {
	select {
	case <-p.gone:
	case <-time.After(exitWait):
	}
	p.kill()
	select {
	case <-p.gone:
		return p.left()
	case <-time.After(deathWait):
		return "the capture process can't be ended"
	}
}

// ended says whether a process, if there was one, is gone.
func (p *process) ended() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// startProcess starts the capture process for the supervisor's device.
func (v *supervisor) startProcess() (*process, error) {
	argv := append(v.options.command(), "--device", v.device)
	if v.asked.Rate != 0 {
		argv = append(argv, "--rate", strconv.Itoa(v.asked.Rate))
	}
	if v.asked.Channels != 0 {
		argv = append(argv, "--channels", strconv.Itoa(v.asked.Channels))
	}
	return startProcess(argv)
}

// command is the capture process as it is always started.
func (o Options) command() []string {
	argv := o.Command
	if len(argv) == 0 {
		argv = []string{self(), "capture"}
	}
	return append(argv[:len(argv):len(argv)], "--fd", "3", "--until-eof")
}

// startProcess runs argv. It writes its messages to descriptor 3: sound libraries print
// to the first two as they like. Its standard input ends when we do, however that comes
// about.
func startProcess(argv []string) (*process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close()
	said := &tail{}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.ExtraFiles = []*os.File{write}
	// PortAudio would start a JACK server. More processors than one are only looked for
	// and put to sleep again, block after block.
	cmd.Env = append(os.Environ(), "JACK_NO_START_SERVER=1", "GOMAXPROCS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us
	cmd.WaitDelay = time.Second
	life, err := cmd.StdinPipe()
	if err != nil {
		read.Close()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		read.Close()
		life.Close()
		return nil, fmt.Errorf("start the capture process: %w", err)
	}
	p := &process{out: read, gone: make(chan struct{})}
	go func() {
		err = cmd.Wait()
		close(p.gone)
	}()
	p.kill = func() {
		if !p.ended() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // and what it started; it may be gone by now
		}
		life.Close()
		read.Close()
	}
	p.left = func() string { return describe(err, said) }
	return p, nil
}

// self is this program, also when its file was replaced or deleted.
func self() string {
	const exe = "/proc/self/exe"
	if _, err := os.Stat(exe); err == nil {
		return exe
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// processEnded is what describe says of a process that ended well.
const processEnded = "the capture process ended"

func describe(err error, said *tail) string {
	if err == nil {
		return processEnded // what sound libraries print along the way is no reason
	}
	text := processEnded + ": " + err.Error()
	if line := said.lastLine(); line != "" {
		text += ": " + line
	}
	return text
}

// tail keeps the end of what a process prints, so that nobody waits for a reader.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-tailBytes):]...)
	t.text = t.text[:copy(t.text, t.text[max(0, len(t.text)-tailBytes):])]
	return len(p), nil
}

// lastLine is what a process said last, before the report of a crash.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	if i := slices.IndexFunc(lines, crashes); i >= 0 {
		lines = lines[max(0, i-1) : i+1]
	} else {
		lines = lines[len(lines)-1:]
	}
	text := strings.Join(lines, "; ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "�")
}

// crashes is the first line of what Go's runtime prints when a process crashes.
func crashes(line string) bool {
	return strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ")
}
