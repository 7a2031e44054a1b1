package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"earshot/app/eval"
	"earshot/audio"
	"earshot/whisper"
)

// together is how many recordings are heard at a time; how many of them are decoded at
// a time depends on the room as well.
const together = 6

// evaluation is `earshot eval` at work.
type evaluation struct {
	env       *Env
	flags     engineFlags
	folder    string     // that the paths of rows are relative to
	listeners []listener // with one batch; each takes the next row that is left
	rows      []eval.Row
}

// tried is what came of a row.
type tried struct {
	row   eval.Row
	heard *heard
	err   error
}

// run transcribes all rows. The report is nil when none could be read.
func (e *evaluation) run(ctx context.Context) (*eval.Report, error) {
	var hearing sync.WaitGroup
	defer hearing.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	progress := newCountProgress(e.env, "eval", len(e.rows))
	defer progress.close()
	report := eval.NewReport(e.flags.model)
	failed := 0
	last, lastCPU := time.Now(), cpuTime()
	for i, result := range e.start(ctx, &hearing) {
		t := <-result
		if ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		now, nowCPU := time.Now(), cpuTime()
		if t.err != nil {
			fmt.Fprintln(e.env.Stderr, "earshot:", t.err)
			failed++
		} else {
			report.Add(t.row, t.heard.text(), float64(t.heard.samples)/whisper.SampleRate, eval.Took{Wall: now.Sub(last), CPU: nowCPU - lastCPU})
			report.Tokens += t.heard.tokens
			last, lastCPU = now, nowCPU
		}
		progress.reached(int64(i + 1))
	}
	encoder, decoder := e.listeners[0].batch.Busy()
	report.EncodeMS, report.DecodeMS = milliseconds(encoder), milliseconds(decoder)
	switch {
	case failed == len(e.rows):
		return nil, someFailed{failed, len(e.rows)}
	case failed > 0:
		return report, someFailed{failed, len(e.rows)}
	}
	return report, nil
}

// start sets all listeners to work, and returns where the result of each row will be.
func (e *evaluation) start(ctx context.Context, hearing *sync.WaitGroup) []chan tried {
	results := make([]chan tried, len(e.rows))
	for i := range results {
		results[i] = make(chan tried, 1)
	}
	var begun atomic.Int64
	for i := range e.listeners {
		hearing.Go(func() {
			for n := begun.Add(1) - 1; n < int64(len(e.rows)); n = begun.Add(1) - 1 {
				results[n] <- e.hear(ctx, &e.listeners[i], e.rows[n])
			}
		})
	}
	return results
}

func (e *evaluation) hear(ctx context.Context, l *listener, row eval.Row) tried {
	path := row.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.folder, path)
	}
	l.options.Language, l.options.Languages = e.flags.languages()
	if e.flags.language == "auto" && l.engine.CheckLanguage(row.Language) == nil {
		l.options.Language = row.Language
	}
	in, err := openRecording(e.env, path, audio.Mix)
	if err != nil {
		return tried{err: err}
	}
	defer in.Close()
	h, err := l.hear(ctx, in)
	if err != nil {
		return tried{err: err}
	}
	if row.Language == "" {
		row.Language = h.language
	}
	return tried{row: row, heard: h}
}
