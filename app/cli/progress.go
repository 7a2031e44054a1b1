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

// isTerminal says whether a person looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress is a bar on a terminal. Elsewhere it shows nothing.
type progress struct {
	bars *mpb.Progress // nil: nothing is shown
	bar  *mpb.Bar
}

func newProgress(env *Env, name string, total int64, right ...decor.Decorator) progress {
	if !isTerminal(env.Stderr) {
		return progress{}
	}
	bars := mpb.New(mpb.WithOutput(env.Stderr), mpb.WithWidth(24))
	return progress{bars, bars.AddBar(total, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name+" ")), mpb.AppendDecorators(right...))}
}

func (p *progress) reached(n int64) {
	if p.bars != nil {
		p.bar.SetCurrent(n)
	}
}

// print writes one line to w, above the bar where both are on a terminal.
func (p *progress) print(w io.Writer, line string) error {
	if p.bars != nil && isTerminal(w) {
		w = p.bars
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// close removes the bar.
func (p *progress) close() {
	if p.bars != nil {
		p.bar.Abort(true)
		p.bars.Wait()
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
