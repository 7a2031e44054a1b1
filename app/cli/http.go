package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"earshot/app/panel"
	"earshot/app/pipeline"
	"earshot/cpu"
	"earshot/store"
)

// listenHTTP opens the address; nil for "off". There are no tokens yet, so only loopback
// is served.
func listenHTTP(address string) (net.Listener, error) {
	if address == "off" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("server.listen: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		l.Close()
		return nil, fmt.Errorf("server.listen %s: other machines could reach it, and nothing asks them who they are yet; use 127.0.0.1", address)
	}
	return l, nil
}

// serverStatus is what /api/status answers.
type serverStatus struct {
	Version string    `json:"version"`
	Kernels string    `json:"kernels"`
	Backend string    `json:"backend"`
	Started time.Time `json:"started"`
	// Goroutines tells of leaks.
	Goroutines int `json:"goroutines"`
	pipeline.Status
	MutedBy []string      `json:"muted_by"`           // user, switch
	MuteKey *panel.Status `json:"mute_key,omitempty"` // where one is asked for
	Light   *panel.Status `json:"light,omitempty"`
	Store   storeStatus   `json:"store"`
}

type storeStatus struct {
	Degraded  bool            `json:"degraded"`
	Problems  []store.Problem `json:"problems"`
	NoHistory bool            `json:"no_history"`
	Bytes     int64           `json:"bytes"`
	LogBytes  int64           `json:"log_bytes"`
	ClipBytes int64           `json:"clip_bytes"`
	FreeBytes int64           `json:"free_bytes"`
}

func (s *service) status(ctx context.Context) (serverStatus, error) {
	db, err := s.pipeline.Store().Status(ctx)
	out := serverStatus{
		Version: version, Kernels: cpu.Tier(), Backend: "cpu", Started: s.started, Goroutines: runtime.NumGoroutine(), Status: s.pipeline.Status(),
		Store: storeStatus{
			Degraded: db.Degraded() || err != nil, Problems: append([]store.Problem{}, db.Problems...), NoHistory: db.NoHistory,
			Bytes: db.Bytes, LogBytes: db.LogBytes, ClipBytes: db.ClipBytes, FreeBytes: db.FreeBytes,
		},
	}
	out.Pending = db.Pending
	s.controls.status(&out)
	return out, err
}

// serveHTTP answers until stop is called.
func (s *service) serveHTTP(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /api/status", func(w http.ResponseWriter, r *http.Request) {
		status, err := s.status(r.Context())
		if err != nil {
			s.log.Warn("status", "problem", err)
		}
		answerJSON(w, status)
	})
	return serveOn(l, sameHost(mux))
}

// serveOn answers until stop is called.
func serveOn(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() { _ = server.Serve(l) }() // it ends with Close
	return func() { server.Close() }
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// sameHost refuses requests that a page of another site sends by a name of its own
// (DNS rebinding).
func sameHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this is not the name of this machine", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
