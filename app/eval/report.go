package eval

import (
	"encoding/json"
	"io"
	"time"
)

// Report is the result of one evaluation, in the form that scripts read. Rates are
// fractions (0.1 is 10 %) and null where nothing is there to divide by: wer and cer
// without reference words, rtf without audio.
type Report struct {
	Model        string   `json:"model"`
	Clips        int      `json:"clips"`
	Words        int      `json:"words"`          // of the references; characters in languages without spaces
	Errors       int      `json:"errors"`         // substitutions, insertions and deletions of words
	WER          *float64 `json:"wer"`            // errors / words
	CER          *float64 `json:"cer"`            // the same over characters, spaces not counted
	AudioSeconds float64  `json:"audio_seconds"`  // decoded
	WallSeconds  float64  `json:"wall_seconds"`   // sum of the rows' wall_ms
	RTF          *float64 `json:"rtf"`            // wall_seconds / audio_seconds
	EncodeMS     float64  `json:"encode_ms"`      // in the encoder, over all clips; set by the caller
	DecodeMS     float64  `json:"decode_ms"`      // in the decoder; set by the caller
	Tokens       int      `json:"tokens"`         // decoded; set by the caller
	PeakRSSBytes int64    `json:"peak_rss_bytes"` // of the process; set by the caller
	Rows         []Result `json:"rows"`

	score Score
}

// Result is one clip of a Report. The texts are as written, before Normalise.
type Result struct {
	Path       string  `json:"path"`
	Reference  string  `json:"reference"`
	Hypothesis string  `json:"hypothesis"`
	Words      int     `json:"words"`
	Errors     int     `json:"errors"`
	Seconds    float64 `json:"seconds"`
	WallMS     float64 `json:"wall_ms"`
}

// NewReport returns the report of a model that has heard nothing yet.
func NewReport(model string) *Report {
	return &Report{Model: model, Rows: []Result{}}
}

// Add scores one clip, transcribed in wall time, and brings the sums up to date.
// seconds is the length of the audio that was decoded. The row's language chooses
// the normaliser; where the manifest has none the caller fills it in.
func (r *Report) Add(row Row, hypothesis string, seconds float64, wall time.Duration) {
	clip := Compare(row.Reference, hypothesis, row.Language)
	r.Rows = append(r.Rows, Result{
		Path:       row.Path,
		Reference:  row.Reference,
		Hypothesis: hypothesis,
		Words:      clip.Words,
		Errors:     clip.WordEdit.Total(),
		Seconds:    seconds,
		WallMS:     float64(wall) / float64(time.Millisecond),
	})
	r.score.Add(clip)
	r.Clips, r.Words, r.Errors = r.score.Clips, r.score.Words, r.score.WordEdit.Total()
	r.WER, r.CER = r.score.WER(), r.score.CER()
	r.AudioSeconds += seconds
	r.WallSeconds += wall.Seconds()
	r.RTF = rate(r.WallSeconds, r.AudioSeconds)
}

// Worst returns the clip with the highest word error rate, of equals the first; a
// clip without reference words that has errors stands above all rates. It is nil
// when no clip has errors.
func (r *Report) Worst() *Result {
	var worst *Result
	for i := range r.Rows {
		c := &r.Rows[i]
		if c.Errors > 0 && (worst == nil || c.worseThan(worst)) {
			worst = c
		}
	}
	return worst
}

func (c *Result) worseThan(d *Result) bool {
	if c.Words == 0 && d.Words == 0 {
		return c.Errors > d.Errors
	}
	return c.Errors*d.Words > d.Errors*c.Words
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}
