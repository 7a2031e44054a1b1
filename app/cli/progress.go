package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"earshot/audio"
)

// terminal returns the terminal that a person looks at when w is written to, or nil.
func terminal(w io.Writer) *os.File {
	if a, ok := w.(*aboveBar); ok {
		w = a.w
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// aboveBar is a terminal on which a progress bar may be: what is written goes above
// it. Elsewhere it is the writer that it is made of.
type aboveBar struct {
	env *Env
	w   io.Writer
}

func (a *aboveBar) Write(p []byte) (int, error) {
	if a.env.bars != nil && terminal(a.w) != nil {
		return a.env.bars.Write(p)
	}
	return a.w.Write(p)
}

// progress is a bar on a terminal. Elsewhere it shows nothing.
type progress struct {
	env *Env
	bar *mpb.Bar // nil: nothing is shown
}

func newProgress(env *Env, name string, total int64, right ...decor.Decorator) progress {
	screen := terminal(env.Stderr)
	if screen == nil {
		return progress{}
	}
	env.bars = mpb.New(mpb.WithOutput(screen), mpb.WithWidth(24))
	return progress{env, env.bars.AddBar(total, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name+" ")), mpb.AppendDecorators(right...))}
}

func (p *progress) reached(n int64) {
	if p.bar != nil {
		p.bar.SetCurrent(n)
	}
}

// close removes the bar.
func (p *progress) close() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.env.bars.Wait()
		p.env.bars, p.bar = nil, nil
	}
}

// remaining is the share that is done, and the time that the rest will take.
func remaining() []decor.Decorator {
	return []decor.Decorator{decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)}
}

// newCountProgress is a bar over n things of about the same size.
func newCountProgress(env *Env, name string, n int) progress {
	return newProgress(env, name, int64(n), remaining()...)
}

// audioProgress shows how far a recording is done, how long the rest will take, and
// the words that are being decoded.
type audioProgress struct {
	progress
	tail atomic.Value // string: the end of the text so far; the bar draws it in its own time
}

// newAudioProgress starts a bar for so many samples; -1 is a length unknown.
func newAudioProgress(env *Env, name string, samples int64) *audioProgress {
	p := &audioProgress{}
	p.tail.Store("")
	right := remaining()
	if samples < 0 {
		right = []decor.Decorator{decor.Any(func(s decor.Statistics) string {
			return fmt.Sprintf("%d s", s.Current/audio.SampleRate)
		})}
	}
	right = append(right, decor.Any(func(decor.Statistics) string { return "  " + p.tail.Load().(string) }))
	p.progress = newProgress(env, name, max(samples, 0), right...)
	return p
}

// tailRunes is how much of the text being decoded is shown.
const tailRunes = 32

func (p *audioProgress) partial(text string) {
	from := len(text)
	for n := 0; n < tailRunes && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	p.tail.Store(text[from:])
}

// reached says that so many samples are done.
func (p *audioProgress) reached(samples int) {
	p.tail.Store("")
	p.progress.reached(int64(samples))
}
