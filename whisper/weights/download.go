package weights

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// remote is what the server says about a file, kept beside a partial download.
type remote struct {
	// Identity changes when the file does: X-Linked-Etag, else ETag.
	Identity string `json:"identity"`
	Linked   bool   `json:"linked"` // Identity is X-Linked-Etag
	SHA256   string `json:"sha256"` // empty if not known
	Size     int64  `json:"size"`   // -1 if not known
	commit   string
}

// download is one file on its way.
type download struct {
	*hub
	url    string
	path   string
	file   string
	report func(Progress)
	// answered is set by the first response: from then on a broken connection is
	// worth another attempt.
	answered bool
	resumed  bool
	furthest int64 // byte that any attempt reached
	remote   remote
}

// attempt makes one request for what is missing.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("no byte for %v", d.stall)) })
	defer stalled.Stop()
	because := func(err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	have, before, err := d.partial()
	if err != nil {
		return finalError{err}
	}
	resp, now, err := d.request(ctx, have, before)
	if err != nil {
		return because(err)
	}
	defer resp.Body.Close()
	d.answered = true
	have, err = d.accept(resp, have, before, now)
	if err != nil {
		return err
	}
	if err := d.copy(resp.Body, have, stalled); err != nil {
		return because(err)
	}
	return nil
}

// partial returns how much of the file is there, and what it is a part of.
func (d *download) partial() (int64, remote, error) {
	var before remote
	have, err := fileSize(d.path)
	if err != nil || have == 0 {
		return 0, before, err
	}
	note, err := os.ReadFile(d.notePath())
	if err != nil || json.Unmarshal(note, &before) != nil || before.Identity == "" {
		return 0, remote{}, nil
	}
	if before.Size >= 0 && have >= before.Size {
		have = max(0, before.Size-1) // the last byte again, to ask whether the file is still the same
	}
	return have, before, nil
}

func (d *download) notePath() string { return d.path + ".remote" }

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// request asks for the file from byte have on.
func (d *download) request(ctx context.Context, have int64, before remote) (*http.Response, remote, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return nil, remote{}, finalError{err}
	}
	req.Header.Set("User-Agent", "earshot")
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if !before.Linked {
			req.Header.Set("If-Range", before.Identity)
		}
	}
	now := remote{Size: -1}
	redirected := false
	client := *d.client
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		redirected = true
		now.read(req.Response.Header)
		if len(via) >= 10 {
			return finalError{errors.New("more than 10 redirects")}
		}
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		var named *url.Error // names the address, which fetch does too
		if errors.As(err, &named) {
			err = named.Err
		}
		return nil, remote{}, err
	}
	now.read(resp.Header)
	if now.Identity == "" {
		now.Identity = resp.Header.Get("Etag")
	}
	if sum := strings.Trim(now.Identity, `"`); sha256Pattern.MatchString(sum) && (now.Linked || !redirected) {
		now.SHA256 = sum
	}
	return resp, now, nil
}

// read takes over what the hub adds to its answers; the first to say it counts.
func (r *remote) read(h http.Header) {
	if etag := h.Get("X-Linked-Etag"); etag != "" && r.Identity == "" {
		r.Identity, r.Linked = etag, true
	}
	if size, err := strconv.ParseInt(h.Get("X-Linked-Size"), 10, 64); err == nil && r.Size < 0 {
		r.Size = size
	}
	if commit := h.Get("X-Repo-Commit"); commit != "" && r.commit == "" {
		r.commit = commit
	}
}

// accept decides from a response where its body goes, and notes what the file is
// before the first byte of it is written.
func (d *download) accept(resp *http.Response, have int64, before, now remote) (int64, error) {
	length := resp.ContentLength
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		have = 0
	case code == http.StatusPartialContent && have > 0:
		if now.Identity != before.Identity || !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
			return 0, d.restart("the file has changed")
		}
		d.resumed = true
	case code == http.StatusRequestedRangeNotSatisfiable && have > 0:
		return 0, d.restart("the file has become shorter")
	case code == http.StatusTooManyRequests || code >= 500:
		return 0, errors.New(resp.Status)
	default:
		return 0, finalError{errors.New(resp.Status)}
	}
	if length >= 0 {
		if now.Size >= 0 && have+length != now.Size {
			return 0, finalError{fmt.Errorf("%d bytes offered, %d announced", have+length, now.Size)}
		}
		now.Size = have + length
	}
	d.remote = now
	note, err := json.Marshal(now)
	if err == nil {
		err = os.WriteFile(d.notePath(), note, 0o644)
	}
	if err != nil {
		return 0, finalError{err}
	}
	return have, nil
}

// restart throws the part away that does not fit.
func (d *download) restart(why string) error {
	if err := os.Remove(d.path); err != nil {
		return finalError{err}
	}
	return errors.New(why)
}

// copy writes the body to the file from byte at on.
func (d *download) copy(body io.Reader, at int64, stalled *time.Timer) (err error) {
	f, err := os.OpenFile(d.path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return finalError{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(at); err != nil {
		return finalError{err}
	}
	buf := make([]byte, 128<<10)
	for {
		n, readErr := body.Read(buf)
		stalled.Reset(d.stall)
		if _, err := f.WriteAt(buf[:n], at); err != nil {
			return finalError{err}
		}
		at += int64(n)
		d.furthest = max(d.furthest, at)
		d.report(Progress{Step: StepDownload, File: d.file, Done: at, Total: max(0, d.remote.Size)})
		switch {
		case readErr == io.EOF && (d.remote.Size < 0 || at == d.remote.Size):
			return nil
		case readErr != nil:
			return fmt.Errorf("cut off at byte %d of %d: %w", at, d.remote.Size, noEOF(readErr))
		}
	}
}
