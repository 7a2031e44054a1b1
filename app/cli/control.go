package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// controlSocket is where the service is told what to do: HTTP on a Unix socket in the
// state folder, which only its owner may open. That needs no password, and neither other
// users nor the pages in somebody's browser can reach it, as they can a port of this
// machine.
const controlSocket = "control.sock"

// listenControl opens the socket. One that a service left behind when it was killed is
// replaced.
func listenControl(ctx context.Context, dir string) (l net.Listener, err error) {
	err = inFolder(dir, func(path string) error {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return errors.New("another earshot serve has this state folder")
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		// The mode of the socket before it has a name is that of the file: at no time can
		// others open it.
		own := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
			if e := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); e != nil {
				return e
			}
			return err
		}}
		if l, err = own.Listen(ctx, "unix", path); err == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false) // its path holds as long as the folder is open
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", controlSocket, dir, err)
	}
	return l, nil
}

// inFolder calls do with a path of the socket that is short enough for the name of one
// (unix(7): 107 bytes), wherever the state folder is.
func inFolder(dir string, do func(path string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), controlSocket))
}

// askControl sends a request to the service and reads its answer into answer.
func askControl(ctx context.Context, dir, method, path, body string, answer any) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, "http://earshot"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	dial := func(ctx context.Context, _, _ string) (c net.Conn, err error) {
		err = inFolder(dir, func(path string) error {
			c, err = (&net.Dialer{}).DialContext(ctx, "unix", path)
			return err
		})
		return c, err
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	got, err := client.Do(r)
	if err != nil {
		if reason := syscall.Errno(0); errors.As(err, &reason) {
			err = reason // the rest names a path that is this process's own
		}
		return fmt.Errorf("earshot serve does not answer (state folder %s): %w", dir, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, 1<<16))
	switch {
	case err != nil:
		return err
	case got.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s: %s", method, path, got.Status, strings.TrimSpace(string(text)))
	}
	return json.Unmarshal(text, answer)
}

// muteAPI is the switch for other programs.
func muteAPI(m *muteSwitch) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/mute", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, m.state()) })
	mux.HandleFunc("PUT /api/mute", func(w http.ResponseWriter, r *http.Request) {
		var wanted struct {
			Muted *bool `json:"muted"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&wanted); err != nil || wanted.Muted == nil {
			http.Error(w, `want {"muted": true} or {"muted": false}`, http.StatusBadRequest)
			return
		}
		m.set(byUser, *wanted.Muted)
		answerJSON(w, m.state())
	})
	return mux
}
