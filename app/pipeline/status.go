package pipeline

import (
	"strings"
	"time"

	"earshot/audio/capture"
	"earshot/store"
)

// state is what Status is made of, beside what others know. Pipeline.mu guards it.
type state struct {
	now       *recording    // that goes on
	recording int64         // the last one that has an id
	at        time.Duration // length of the one that goes on
	speaking  bool
	segments  int
	textAt    time.Time
	delay     time.Duration
	unstored  []commit
	lost      int
	problems  []Problem
	clocks    clocks
}

// Problem is something that is wrong, and since when.
type Problem struct {
	Kind   string    `json:"kind"` // engine, store, clips, lost
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Count  int       `json:"count"`
}

// Status is how the pipeline is at a moment.
type Status struct {
	Source    capture.Status `json:"source"`
	Muted     bool           `json:"muted"`
	Speaking  bool           `json:"speaking"`
	Recording int64          `json:"recording,omitempty"`
	At        float64        `json:"recording_seconds"`
	Model     string         `json:"model"`
	Captions  bool           `json:"captions"`
	// Lag is how much speech waits to be written down, in seconds; Pending how many clips
	// do, in the store.
	Lag      float64   `json:"lag_seconds"`
	Pending  int64     `json:"pending_clips"`
	Unstored int       `json:"unstored"` // texts that could not be stored yet
	Lost     int       `json:"lost"`     // of these, those that there was no room for
	Segments int       `json:"segments"` // stored since the start
	LastText time.Time `json:"last_text,omitzero"`
	// Delay is from the end of the last utterance, as it was decided, to its text in the
	// store, in seconds.
	Delay float64 `json:"delay_seconds"`
	// Drift is how far the sample clock has run ahead of this machine's clock since the
	// first sound, in seconds, and in millionths of that time.
	Drift    float64   `json:"drift_seconds"`
	DriftPPM float64   `json:"drift_ppm"`
	Problems []Problem `json:"problems"`
}

// Status says how things are.
func (p *Pipeline) Status() Status {
	p.mu.Lock()
	s := Status{
		Muted: p.muted.Load(), Speaking: p.state.speaking, Recording: p.state.recording, At: p.state.at.Seconds(),
		Unstored: len(p.state.unstored), Lost: p.state.lost, Segments: p.state.segments, LastText: p.state.textAt,
		Delay: p.state.delay.Seconds(), Problems: append([]Problem{}, p.state.problems...),
	}
	s.Drift, s.DriftPPM = p.state.clocks.drift.Seconds(), p.state.clocks.ppm
	p.mu.Unlock()
	if s.Source = p.source.Status(); s.Muted {
		s.Source.LevelDB, s.Source.GainDB = capture.Quietest, 0 // they would tell that somebody speaks
	}
	s.Model, s.Captions = p.models[p.ladder.model()].Name, p.opts.Captions > 0 && p.ladder.captions()
	s.Lag = p.queue.lag().Seconds()
	return s
}

// note remembers where the ears are.
func (p *Pipeline) note(e *ears) {
	_, speaking := e.segmenter.Open()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.speaking = speaking
	if p.state.now = e.recording; e.recording != nil {
		p.state.at = e.place(e.heard)
	}
	if e.live {
		p.state.clocks.compare(e.heard, p.opts.Now())
	}
}

// SourceChanged tells subscribers and the recording that goes on what has become of the
// source. It is capture.Options.Notify.
func (p *Pipeline) SourceChanged(e capture.Event) {
	p.Hub.publish(Message{Kind: Changed, Reason: string(e.State)})
	p.mu.Lock()
	r := p.state.now
	p.mu.Unlock()
	if r != nil {
		at := r.place(int(e.Pos))
		p.queue.put(job{recording: r, event: &store.Event{Kind: "source", At: at, Until: at, Wall: e.Time, Detail: strings.TrimSuffix(string(e.State)+": "+e.Reason, ": ")}})
	}
}

// problem notes what is wrong; the same kind again only counts.
func (p *Pipeline) problem(kind string, err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	at := -1
	for i := range p.state.problems {
		if p.state.problems[i].Kind == kind {
			at = i
		}
	}
	if at < 0 {
		p.state.problems = append(p.state.problems, Problem{Kind: kind, Since: p.opts.Now()})
		at = len(p.state.problems) - 1
	}
	x := &p.state.problems[at]
	x.Count++
	told := x.Reason != err.Error()
	x.Reason = err.Error()
	p.mu.Unlock()
	if told {
		p.opts.Log.Warn("pipeline", "problem", kind, "reason", err)
		p.Hub.publish(Message{Kind: Changed, Reason: err.Error()})
	}
}

// solved ends a problem.
func (p *Pipeline) solved(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.state.problems {
		if x.Kind == kind {
			p.state.problems = append(p.state.problems[:i], p.state.problems[i+1:]...)
			p.opts.Log.Info("pipeline", "solved", kind)
			return
		}
	}
}
