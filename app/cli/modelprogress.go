package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"earshot/whisper/weights"
)

// modelProgress shows how far a pull or an import is: a bar on a terminal,
// elsewhere a line now and then.
type modelProgress struct {
	out   io.Writer
	bars  *mpb.Progress // nil: lines
	bar   *mpb.Bar
	last  weights.Progress
	shown time.Time
}

// lineEvery is how often a line is written while a step goes on.
const lineEvery = 10 * time.Second

func newModelProgress(out io.Writer) *modelProgress {
	p := &modelProgress{out: out}
	if screen := terminal(out); screen != nil {
		p.bars = mpb.New(mpb.WithOutput(screen), mpb.WithWidth(40))
	}
	return p
}

func (p *modelProgress) show(now weights.Progress) {
	fresh := now.Step != p.last.Step || now.File != p.last.File
	p.last = now
	if p.bars != nil {
		p.showBar(now, fresh)
		return
	}
	if !fresh && time.Since(p.shown) < lineEvery {
		return
	}
	p.shown = time.Now()
	amount := ""
	if !fresh && now.Total > 0 {
		amount = fmt.Sprintf(": %s of %s", megabytes(now.Done), megabytes(now.Total))
	} else if now.Total > 0 {
		amount = fmt.Sprintf(" (%s)", megabytes(now.Total))
	}
	fmt.Fprintf(p.out, "%s %s%s\n", now.Step, now.File, amount)
}

func (p *modelProgress) showBar(now weights.Progress, fresh bool) {
	if fresh {
		if p.bar != nil {
			p.bar.Abort(true)
		}
		name := mpb.PrependDecorators(decor.Name(fmt.Sprintf("%s %s ", now.Step, now.File)))
		if now.Total > 0 {
			p.bar = p.bars.AddBar(now.Total, name,
				mpb.AppendDecorators(decor.CountersKiloByte("% .1f of % .1f"), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)))
		} else {
			p.bar = p.bars.New(0, mpb.NopStyle(), name)
		}
	}
	p.bar.SetCurrent(now.Done)
}

// close removes the bar.
func (p *modelProgress) close() {
	if p.bars == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
	}
	p.bars.Wait()
}
