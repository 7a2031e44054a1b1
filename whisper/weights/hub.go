package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// hub downloads files of a server with the Hugging Face hub's layout,
// ENDPOINT/REPO/resolve/REVISION/FILE. A small file is served as it is. A large one
// is redirected to another server, and the redirect carries what counts:
// X-Linked-Etag (the file's SHA-256) and X-Linked-Size. The other server's ETag, if
// it has one, is not the SHA-256 even if it looks like one.
type hub struct {
	endpoint string
	client   *http.Client
	stall    time.Duration // longest time without a byte
	tries    int           // attempts in a row that get no further
	backoff  time.Duration // before the second attempt; doubles
}

func newHub() *hub {
	endpoint := os.Getenv("HF_ENDPOINT")
	if endpoint == "" {
		endpoint = "https://huggingface.co"
	}
	return &hub{
		endpoint: strings.TrimRight(endpoint, "/"),
		client: &http.Client{Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second,
			ForceAttemptHTTP2:   true,
		}},
		stall:   30 * time.Second,
		tries:   5,
		backoff: time.Second,
	}
}

// fetch downloads a file into dir, or the rest of it, checks it, and returns the
// commit it belongs to if the server says so.
func (h *hub) fetch(ctx context.Context, repo, revision, file, dir string, report func(Progress)) (string, error) {
	d := &download{
		hub: h, file: file, path: filepath.Join(dir, file), report: report,
		url: fmt.Sprintf("%s/%s/resolve/%s/%s", h.endpoint, repo, revision, file),
	}
	err := d.all(ctx)
	var broken checkError
	if errors.As(err, &broken) && d.resumed {
		// The part that was there may be to blame.
		err = d.all(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("download %s: %w", d.url, err)
	}
	return d.remote.commit, nil
}

// finalError is one that another attempt would not mend.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// checkError says that what was downloaded is not what was announced.
type checkError struct{ error }

// all makes attempts until the file is complete, and checks it.
func (d *download) all(ctx context.Context) error {
	wait, failures := d.backoff, 0
	for {
		before := d.furthest
		err := d.attempt(ctx)
		if err == nil {
			return d.check()
		}
		var final finalError
		if errors.As(err, &final) || ctx.Err() != nil || !d.answered {
			return err
		}
		if d.furthest > before {
			wait, failures = d.backoff, 0
		}
		if failures++; failures >= d.tries {
			return fmt.Errorf("%w (%d attempts)", err, failures)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}

// check compares the file with its announced hash; what is wrong is thrown away.
func (d *download) check() error {
	if d.remote.SHA256 == "" {
		return nil
	}
	d.report(Progress{Step: StepCheck, File: d.file})
	sum, err := fileSHA256(d.path)
	if err != nil {
		return err
	}
	if sum == d.remote.SHA256 {
		return nil
	}
	err = checkError{fmt.Errorf("sha256 %s, the hub announced %s", sum, d.remote.SHA256)}
	return errors.Join(err, os.Remove(d.path))
}

func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
