package backendtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"earshot/whisper"
	"earshot/whisper/ref"
	"earshot/whisper/weights"
)

// Backend is what is tested.
type Backend struct {
	Encoder whisper.Encoder
	Decoder whisper.Decoder
	// Tolerance is how far a value may lie from the definition's, as a share of
	// max(1, |value|).
	Tolerance float64
}

// Run checks a backend made from m against whisper/ref on m.
func Run(t *testing.T, m *weights.Model, b Backend) {
	reference, err := ref.New(m)
	if err != nil {
		t.Fatal(err)
	}
	s := suite{
		Backend: b,
		dims:    whisper.Dims(m.Header.Dims),
		ref:     Backend{Encoder: reference, Decoder: reference},
	}
	for _, c := range []struct {
		name string
		f    func(*testing.T)
	}{
		{"encoder values at every length", s.encoderValues},
		{"encoder refuses", s.encoderRefuses},
		{"encoder is interrupted", s.encoderInterrupted},
		{"decoder values", s.decoderValues},
		{"alignment", s.alignment},
		{"prompt at once or by token", s.promptPieces},
		{"company does not matter", s.company},
		{"sessions together", s.sessionsTogether},
		{"select", s.selects},
		{"draft is taken back", s.takesBack},
		{"to the last position", s.lastPosition},
		{"decoder refuses", s.decoderRefuses},
		{"decoder is interrupted", s.decoderInterrupted},
	} {
		t.Run(c.name, c.f)
	}
}

type suite struct {
	Backend
	dims whisper.Dims
	ref  Backend
}

var ctx = context.Background()

// mel makes up features of so many frames, in the range that real ones have.
func (s suite) mel(frames int) whisper.Mel {
	random := rand.New(rand.NewPCG(uint64(frames), 2))
	m := whisper.Mel{Bands: s.dims.Mels, Frames: frames, Data: make([]float32, s.dims.Mels*frames)}
	for i := range m.Data {
		m.Data[i] = float32(random.Float64()*2 - 0.5)
	}
	return m
}

func (s suite) encode(t *testing.T, b Backend, frames int) whisper.Encoded {
	t.Helper()
	enc, err := b.Encoder.Encode(ctx, s.mel(frames))
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// begin opens a session over windows of the given frames, encoded by the reference
// so that the decoder alone is tested.
func (s suite) begin(t *testing.T, b Backend, opts whisper.SessionOptions, frames ...int) whisper.Session {
	t.Helper()
	var audios []whisper.Encoded
	for _, f := range frames {
		audios = append(audios, s.encode(t, s.ref, f))
	}
	session, err := b.Decoder.Begin(ctx, audios, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(session.Close(), session.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return session
}

func step(t *testing.T, session whisper.Session, in ...whisper.Input) whisper.Output {
	t.Helper()
	out, err := session.Step(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, x := range in {
		rows += x.Rows
	}
	if len(out.Logits) != rows {
		t.Fatalf("%d logits rows, want %d", len(out.Logits), rows)
	}
	return out
}

func (s suite) encoderValues(t *testing.T) {
	for _, frames := range []int{2 * s.dims.AudioCtx, 2, 4, 30, 2*s.dims.AudioCtx - 2, 2 * s.dims.AudioCtx} {
		got, want := s.encode(t, s.Backend, frames), s.encode(t, s.ref, frames)
		if got.Positions != frames/2 {
			t.Errorf("%d frames: %d positions", frames, got.Positions)
		}
		s.near(t, "encoder", got.Data, want.Data)
	}
}

func (s suite) encoderRefuses(t *testing.T) {
	OK := s.mel(4)
	for name, bad := range map[string]whisper.Mel{
		"no frames":       {Bands: OK.Bands},
		"odd frames":      {Bands: OK.Bands, Frames: 3, Data: OK.Data[:3*OK.Bands]},
		"too many frames": s.mel(2*s.dims.AudioCtx + 2),
		"other bands":     {Bands: OK.Bands + 1, Frames: 4, Data: make([]float32, 4*(OK.Bands+1))},
		"short data":      {Bands: OK.Bands, Frames: 4, Data: OK.Data[1:]},
	} {
		if _, err := s.Encoder.Encode(ctx, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func (s suite) encoderInterrupted(t *testing.T) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := s.Encoder.Encode(stopped, s.mel(4)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// near compares values within the tolerance and fails on NaN.
func (s suite) near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	worst, at := 0.0, 0
	for i := range got {
		off := math.Abs(float64(got[i])-float64(want[i])) / math.Max(1, math.Abs(float64(want[i])))
		if !(off <= worst) {
			worst, at = off, i
		}
	}
	if !(worst <= s.Tolerance) {
		t.Errorf("%s: value %d of %d is %g, want %g ± %g", what, at, len(got), got[at], want[at], s.Tolerance)
	}
}

// same compares to the last bit.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Errorf("%s: value %d is %g, want exactly %g", what, i, got[i], want[i])
			return
		}
	}
}
