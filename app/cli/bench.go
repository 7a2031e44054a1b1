package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"earshot/cpu"
	"earshot/whisper"
)

// benchFlags are the flags of `earshot bench`.
type benchFlags struct {
	engineFlags
	window   string
	seconds  float64
	jsonFile string
}

func benchCommand(env *Env) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast this machine runs a model, and how near that is to its limits",
		Long: `Measure a model's parts one by one: features, encoder, what the decoder makes of a
window before its first token, and tokens. Beside the encoder's operations and the
bytes that a token reads stand the most that this machine does: multiply-adds on
registers alone, and reading memory that no cache holds.

The sound is noise: no part takes longer or shorter for what is said. Each figure is
the median of several runs, with the fastest and the slowest behind it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := bench(cmd.Context(), env, f)
			if err != nil {
				if cmd.Context().Err() != nil {
					return errors.New("interrupted")
				}
				return err
			}
			return publish(env, report, f.jsonFile)
		},
	}
	f.engineFlags.add(cmd)
	if err := cmd.Flags().MarkHidden("language"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.Flags().StringVar(&f.window, "window", "full", "what the encoder looks at: full (30 s), auto (the speech and 2 s), or so many `SECONDS`")
	cmd.Flags().Float64Var(&f.seconds, "seconds", 10, "length of the speech, for --window auto")
	cmd.Flags().StringVar(&f.jsonFile, "json", "", "write the figures to `FILE` as well (- is standard output, and nothing else)")
	return cmd
}

const (
	benchRuns   = 7
	benchTokens = 64 // a run of the decoder: some 15 s of speech
)

// bench measures all parts in turn. The limits come last: what they take of memory
// is not the model's.
func bench(ctx context.Context, env *Env, f benchFlags) (*benchReport, error) {
	start := time.Now()
	engine, err := openEngine(env, f.engineFlags)
	if err != nil {
		return nil, err
	}
	load := time.Since(start)
	positions, err := f.positions(engine)
	if err != nil {
		return nil, err
	}
	b := &benchmark{ctx: ctx, engine: engine, positions: positions, progress: newCountProgress(env, "bench", 4*(benchRuns+1)+6)}
	defer b.progress.close()
	r := &benchReport{
		Machine: thisMachine(), Version: version, Kernels: cpu.Tier(),
		Model: f.model, ComputeType: f.computeType, Threads: f.threads,
		Positions: positions, LoadMS: milliseconds(load),
	}
	if err := b.parts(r); err != nil {
		return nil, err
	}
	r.PeakRSSBytes = peakRSS()
	r.rates(engine.Dims)
	r.Limits = []limits{b.limits(1)}
	if f.threads > 1 {
		r.Limits = append(r.Limits, b.limits(f.threads))
	}
	return r, ctx.Err()
}

// positions is the window in encoder positions of 20 ms, a multiple of 16 below the
// full one.
func (f *benchFlags) positions(e *whisper.Engine) (int, error) {
	if !(f.seconds > 0 && f.seconds <= whisper.WindowSeconds) {
		return 0, fmt.Errorf("--seconds %g: more than 0, at most %d", f.seconds, whisper.WindowSeconds)
	}
	full := e.Dims.AudioCtx
	switch f.window {
	case "full":
		return full, nil
	case "auto":
		return e.Window(int(f.seconds*whisper.SampleRate), whisper.Options{}), nil
	}
	seconds, err := strconv.ParseFloat(f.window, 64)
	if err != nil || !(seconds > 0 && seconds <= whisper.WindowSeconds) {
		return 0, fmt.Errorf("--window %s: full, auto, or more than 0 and at most %d seconds", f.window, whisper.WindowSeconds)
	}
	const step = 16
	positions := int(seconds*float64(full)/whisper.WindowSeconds + 0.5)
	return min(full, max(1, (positions+step-1)/step)*step), nil
}

// benchmark is one run of `earshot bench`.
type benchmark struct {
	ctx       context.Context
	engine    *whisper.Engine
	positions int
	progress  progress
	done      int64
}

// parts measures what a window goes through.
func (b *benchmark) parts(r *benchReport) error {
	e := b.engine
	window := hiss(b.positions * 2 * (whisper.SampleRate / 100))
	full := hiss(whisper.WindowSeconds * whisper.SampleRate)
	features := whisper.Mel{Bands: e.Dims.Mels, Frames: 2 * b.positions}
	var heard whisper.Encoded
	var err error
	if r.MelMS, err = b.measure(func() error { e.Features.LogMel(full, 2*e.Dims.AudioCtx); return nil }); err != nil {
		return err
	}
	features.Data = e.Features.LogMel(window, features.Frames)
	if r.EncoderMS, err = b.measure(func() (err error) { heard, err = e.Encoder.Encode(b.ctx, features); return err }); err != nil {
		return err
	}
	var s whisper.Session
	if r.CrossMS, err = b.measure(func() (err error) {
		if s != nil {
			s.Close()
		}
		s, err = e.Decoder.Begin(b.ctx, []whisper.Encoded{heard}, whisper.SessionOptions{})
		return err
	}); err != nil {
		return err
	}
	defer s.Close()
	r.TokenMS, err = b.measure(func() error { return b.text(s) })
	r.TokenMS = r.TokenMS.over(benchTokens)
	return err
}

// measure runs f several times after once to warm up.
func (b *benchmark) measure(f func() error) (spread, error) {
	var took []float64
	for i := range benchRuns + 1 {
		if err := b.ctx.Err(); err != nil {
			return spread{}, err
		}
		start := time.Now()
		if err := f(); err != nil {
			return spread{}, err
		}
		if i > 0 {
			took = append(took, milliseconds(time.Since(start)))
		}
		b.step()
	}
	return spreadOf(took), nil
}

func (b *benchmark) step() {
	b.done++
	b.progress.reached(b.done)
}

// text decodes benchTokens tokens one by one, each the likeliest behind those before, as in
// a text: how much is read for logits depends on how sure the model is. Those of the run
// before are forgotten.
func (b *benchmark) text(s whisper.Session) error {
	token := b.engine.Tokenizer.StartOfTranscript
	for at := range benchTokens {
		out, err := s.Step(b.ctx, []whisper.Input{{At: at, Tokens: []int{token}, Rows: 1}})
		if err != nil {
			return err
		}
		token = cpu.ArgmaxF32(out.Logits[0])
	}
	return nil
}

// limits measures what so many threads can do at most.
func (b *benchmark) limits(threads int) limits {
	l := limits{Threads: threads}
	l.F32 = cpu.MeasurePeakF32(threads)
	b.step()
	l.I8 = cpu.MeasurePeakI8(threads)
	b.step()
	l.ReadBytes = cpu.MeasurePeakRead(threads)
	b.step()
	return l
}

// hiss is white noise, the same at every call, at the level of quiet speech.
func hiss(samples int) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, samples)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * 0.03)
	}
	return x
}
