package cli

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"earshot/whisper"
	"earshot/whisper/oncpu"
)

// benchReport is what `earshot bench` has measured, in the form that scripts read.
type benchReport struct {
	Machine     machine `json:"machine"`
	Version     string  `json:"version"`
	Kernels     string  `json:"kernels"`
	Model       string  `json:"model"`
	ComputeType string  `json:"compute_type"`
	Threads     int     `json:"threads"`
	Positions   int     `json:"positions"` // of the encoder's window, 20 ms each

	LoadMS    float64 `json:"load_ms"`
	MelMS     spread  `json:"mel_ms"` // features of 30 s
	EncoderMS spread  `json:"encoder_ms"`
	CrossMS   spread  `json:"cross_ms"` // what the decoder makes of a window before its first token
	TokenMS   spread  `json:"token_ms"`

	TokensPerSecond float64 `json:"tokens_per_second"`
	EncoderOps      float64 `json:"encoder_ops_per_second"`
	CrossOps        float64 `json:"cross_ops_per_second"`
	TokenBytes      float64 `json:"token_bytes_per_second"` // weights, keys and values that tokens read

	PeakRSSBytes int64    `json:"peak_rss_bytes"`
	Limits       []limits `json:"limits"`
}

// limits is what the machine does at most.
type limits struct {
	Threads   int     `json:"threads"`
	F32       float64 `json:"f32_ops_per_second"`
	I8        float64 `json:"i8_ops_per_second"`
	ReadBytes float64 `json:"read_bytes_per_second"`
}

// spread is the times of several runs, in ms.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(ms []float64) spread {
	slices.Sort(ms)
	return spread{Median: ms[len(ms)/2], Min: ms[0], Max: ms[len(ms)-1]}
}

func (s spread) over(n float64) spread { return spread{s.Median / n, s.Min / n, s.Max / n} }

// perSecond is how much of n, done in the median time, that makes in a second.
func (s spread) perSecond(n float64) float64 { return n / s.Median * 1000 }

// rates works out what follows from the times.
func (r *benchReport) rates(d whisper.Dims) {
	r.TokensPerSecond = r.TokenMS.perSecond(1)
	r.EncoderOps = r.EncoderMS.perSecond(float64(d.EncoderOps(r.Positions)))
	r.CrossOps = r.CrossMS.perSecond(float64(d.CrossOps(r.Positions)))
	r.TokenBytes = r.TokenMS.perSecond(r.tokenBytes(d))
}

// tokenBytes is what a token in the middle of a run reads: weights, and what is cached of
// the window and of the text. In int8 the window's cache is float16, and of the weights
// that make logits half a byte is read, but for the few that count.
func (r *benchReport) tokenBytes(d whisper.Dims) float64 {
	weight, logits, window, text := 4, 4*d.LogitWeights(), 4, 4
	if r.ComputeType == string(oncpu.Int8) {
		weight, logits, window = 1, d.LogitWeights()/2, 2
	}
	all := d.TokenCache(r.Positions, benchTokens/2)
	ofText := d.TokenCache(0, benchTokens/2)
	return float64(weight*d.TokenWeights() + logits + window*(all-ofText) + text*ofText)
}

// WriteTable writes the report for people.
func (r *benchReport) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, name+"\t"+format+"\n", args...)
	}
	most := r.Limits[len(r.Limits)-1]
	line("machine", "%s, cores: %d, memory: %.1f GB", r.Machine.Processor, r.Machine.Cores, float64(r.Machine.MemoryBytes)/1e9)
	line("kernels", "%s", r.Kernels)
	line("model", "%s, %s, threads: %d", r.Model, r.ComputeType, r.Threads)
	line("window", "%.1f s (%d positions)", float64(r.Positions)/50, r.Positions)
	line("load", "%.0f ms", r.LoadMS)
	line("features", "%s for 30 s, 1 thread", r.MelMS)
	ops, unit := most.F32, "GFLOP/s"
	if r.ComputeType == string(oncpu.Int8) {
		ops, unit = most.I8, "GOP/s"
	}
	line("encoder", "%s\t%s", r.EncoderMS, ofMost(r.EncoderOps, ops, unit))
	line("first token", "%s before it\t%s", r.CrossMS, ofMost(r.CrossOps, ops, unit))
	line("token", "%s, %.0f a second\t%s", r.TokenMS, r.TokensPerSecond, ofMost(r.TokenBytes, most.ReadBytes, "GB/s"))
	line("peak memory", "%.0f MB", float64(r.PeakRSSBytes)/1e6)
	for _, l := range r.Limits {
		line(fmt.Sprintf("limits, threads: %d", l.Threads), "%.1f GFLOP/s in float32, %.1f GOP/s in int8, reads %.1f GB/s", l.F32/1e9, l.I8/1e9, l.ReadBytes/1e9)
	}
	return t.Flush()
}

// String is the median, and the others behind it.
func (s spread) String() string {
	digits := 0
	if s.Median < 100 {
		digits = 2
	}
	return fmt.Sprintf("%.*f ms (%.*f … %.*f)", digits, s.Median, digits, s.Min, digits, s.Max)
}

// ofMost is a rate beside the most that the machine does.
func ofMost(rate, most float64, unit string) string {
	return fmt.Sprintf("%.1f %s, %.0f %% of the limit", rate/1e9, unit, 100*rate/most)
}

// WriteJSON writes the report as indented JSON.
func (r *benchReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }
