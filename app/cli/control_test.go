package cli

import (
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveMute answers on a control socket in dir.
func serveMute(t *testing.T, dir string) *muteSwitch {
	t.Helper()
	l, err := listenControl(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := openMuteSwitch(dir)
	t.Cleanup(serveOn(l, muteAPI(m)))
	return m
}

// TestControl: only its owner may use the socket, whatever others may create, and
// wherever the folder is.
func TestControl(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a", 200))
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	m := serveMute(t, dir)
	info, err := os.Stat(filepath.Join(dir, controlSocket))
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := listenControl(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "another earshot serve") {
		t.Errorf("a second service: %v", err)
	}
	var s muteState
	if err := askControl(t.Context(), dir, http.MethodPut, "/api/mute", `{"muted": true}`, &s); err != nil || !s.Muted || !m.state().Muted {
		t.Errorf("%+v, %v", s, err)
	}
	for _, body := range []string{"", "{}", `{"muted": 1}`, `{"muted": null}`, "true", "{", strings.Repeat(" ", 2000) + `{"muted": false}`} {
		err := askControl(t.Context(), dir, http.MethodPut, "/api/mute", body, &s)
		if err == nil || !strings.Contains(err.Error(), "400 Bad Request: want") || !m.state().Muted {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

// TestControlLeftBehind: the socket of a service that was killed is in nobody's way.
func TestControlLeftBehind(t *testing.T) {
	dir := t.TempDir()
	old, err := net.Listen("unix", filepath.Join(dir, controlSocket))
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	var s muteState
	if err := askControl(t.Context(), dir, http.MethodGet, "/api/mute", "", &s); err == nil || !strings.Contains(err.Error(), "earshot serve does not answer") {
		t.Errorf("nobody is there: %v", err)
	}
	serveMute(t, dir)
	if err := askControl(t.Context(), dir, http.MethodGet, "/api/mute", "", &s); err != nil || s.Muted {
		t.Errorf("%+v, %v", s, err)
	}
}
