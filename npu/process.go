//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a worker that was started. One goroutine at a time uses it.
type process struct {
	link *link
	said *tail
	pid  int
	gone chan struct{} // closed when it has ended
	how  error         // after gone: how it ended
}

// deathWait is how long a process that was killed may take to be gone. One inside a
// driver's call goes only when the driver lets it.
const deathWait = 2 * time.Second

// startProcess starts a worker. Its socket is descriptor 3: a library prints to the first
// two as it likes.
func startProcess(argv []string) (*process, error) {
	if len(argv) == 0 {
		argv = []string{"/proc/self/exe", "npu", "worker"} // also when the file was replaced
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "the worker's socket")
	defer theirs.Close()
	l, err := newLink(os.NewFile(uintptr(pair[0]), "the socket of the worker"))
	if err != nil {
		return nil, err
	}
	p := &process{link: l, said: newTail(), gone: make(chan struct{})}
	cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], "--fd", "3")...)
	cmd.Stdout, cmd.Stderr = p.said, p.said
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append([]string{"GOTRACEBACK=none"}, os.Environ()...) // the log is for the library's last words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}           // Ctrl-C is for us
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		l.close()
		return nil, fmt.Errorf("start the NPU worker: %w", err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		p.how = cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

// ended says whether the process, if there was one, is gone.
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

// wait waits for the process to end, but not for ever.
func (p *process) wait() {
	select {
	case <-p.gone:
	case <-time.After(deathWait):
	}
}

// end kills the process and says how it had ended before, if it had.
func (p *process) end() string {
	defer p.link.close()
	if !p.ended() {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // it may be gone by now
	}
	if p.wait(); !p.ended() {
		return "it can't be ended"
	}
	if p.how != nil {
		return p.how.Error()
	}
	return "exit status 0"
}

// errGone is a worker that is not there any more when it is asked something.
var errGone = errors.New("no reply")

// ask sends a request and waits for its reply, whose descriptors are the caller's. ctx
// ends the wait, and then nothing more can be asked.
func (p *process) ask(ctx context.Context, m message, fds ...int) (message, []int, error) {
	stop := context.AfterFunc(ctx, p.link.interrupt)
	defer stop()
	lines, marks := p.said.now()
	err := p.link.send(m, fds...)
	var reply message
	if err == nil {
		reply, fds, err = p.link.receive()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return reply, nil, ctx.Err()
	case err != nil:
		return reply, nil, fmt.Errorf("%w: %w", errGone, err)
	case reply.Error != nil:
		closeAll(fds)
		p.said.wait(marks)
		e := fromWire(reply.Error)
		e.Log = p.said.since(lines)
		return reply, nil, e
	}
	return reply, fds, nil
}
