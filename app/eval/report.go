package eval

import (
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"
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
	CPUSeconds   float64  `json:"cpu_seconds"`    // of all threads, while wall_seconds passed; sum of the rows' cpu_ms
	EncodeMS     float64  `json:"encode_ms"`      // in the encoder, over all clips; set by the caller
	DecodeMS     float64  `json:"decode_ms"`      // in the decoder; set by the caller
	Tokens       int      `json:"tokens"`         // decoded; set by the caller
	LoadMS       float64  `json:"load_ms"`        // until the model was ready; set by the caller
	PeakRSSBytes int64    `json:"peak_rss_bytes"` // of the process; set by the caller
	Runaway      int      `json:"runaway"`        // clips whose text is far too long: the model repeated itself, or invented
	Rows         []Result `json:"rows"`

	Differences []Difference `json:"differences,omitempty"` // from other reports; set by the caller

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
	CPUMS      float64 `json:"cpu_ms"`
}

// Took is the time that a clip cost: on the clock, and of all processors together.
type Took struct{ Wall, CPU time.Duration }

// NewReport returns the report of a model that has heard nothing yet.
func NewReport(model string) *Report {
	return &Report{Model: model, Rows: []Result{}}
}

// Add scores one clip and brings the sums up to date.
// seconds is the length of the audio that was decoded. The row's language chooses
// the normaliser; where the manifest has none the caller fills it in.
func (r *Report) Add(row Row, hypothesis string, seconds float64, took Took) {
	clip := Compare(row.Reference, hypothesis, row.Language)
	result := Result{
		Path:       row.Path,
		Reference:  row.Reference,
		Hypothesis: hypothesis,
		Words:      clip.Words,
		Errors:     clip.WordEdit.Total(),
		Seconds:    seconds,
		WallMS:     float64(took.Wall) / float64(time.Millisecond),
		CPUMS:      float64(took.CPU) / float64(time.Millisecond),
	}
	r.Rows = append(r.Rows, result)
	if result.Runaway() {
		r.Runaway++
	}
	r.score.Add(clip)
	r.Clips, r.Words, r.Errors = r.score.Clips, r.score.Words, r.score.WordEdit.Total()
	r.WER, r.CER = r.score.WER(), r.score.CER()
	r.AudioSeconds += seconds
	r.WallSeconds += took.Wall.Seconds()
	r.CPUSeconds += took.CPU.Seconds()
	r.RTF = rate(r.WallSeconds, r.AudioSeconds)
}

// Runaway says whether the text is too long for what was said, by half and a few
// words. It is seen in the text as it is, since normalising may shorten repeats.
func (c *Result) Runaway() bool {
	return float64(utf8.RuneCountInString(c.Hypothesis)) > 1.5*float64(utf8.RuneCountInString(c.Reference))+20
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
