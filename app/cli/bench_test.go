package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"earshot/whisper"
	"earshot/whisper/backendtest"
)

func TestBench(t *testing.T) {
	backendtest.Model(t, "tiny.en")
	status, out, errs := run(t, nil, "bench", "--threads", "2", "--window", "auto", "--seconds", "0.5", "--json", "-")
	if status != 0 || errs != "" {
		t.Fatalf("status %d, errors %q", status, errs)
	}
	var r benchReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Positions != 128 || r.Threads != 2 || r.Model != "tiny.en" || r.Kernels == "" || r.Machine.Cores < 1 {
		t.Errorf("got %s", out)
	}
	for name, s := range map[string]spread{"mel": r.MelMS, "encoder": r.EncoderMS, "cross": r.CrossMS, "token": r.TokenMS} {
		if !(0 < s.Min && s.Min <= s.Median && s.Median <= s.Max) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if r.LoadMS <= 0 || r.PeakRSSBytes < 30e6 || r.EncoderOps <= 0 || r.CrossOps <= 0 || r.TokenBytes <= 0 {
		t.Errorf("got %s", out)
	}
	if len(r.Limits) != 2 || r.Limits[0].Threads != 1 || r.Limits[1].Threads != 2 {
		t.Fatalf("limits %+v", r.Limits)
	}
	for _, l := range r.Limits {
		if l.F32 <= 0 || l.I8 <= 0 || l.ReadBytes <= 0 {
			t.Errorf("limits %+v", l)
		}
	}
}

func TestBenchWindow(t *testing.T) {
	e := &whisper.Engine{Dims: whisper.Dims{AudioCtx: 1500}}
	for _, c := range []struct {
		window  string
		seconds float64
		want    int
	}{
		{"full", 10, 1500},
		{"auto", 10, 608}, // 600 positions, rounded up to 16
		{"auto", 29, 1500},
		{"0.01", 10, 16},
		{"3.2", 10, 160},
		{"30", 10, 1500},
	} {
		f := benchFlags{window: c.window, seconds: c.seconds}
		if got, err := f.positions(e); err != nil || got != c.want {
			t.Errorf("--window %s --seconds %g: %d, %v; want %d", c.window, c.seconds, got, err, c.want)
		}
	}
	for _, f := range []benchFlags{{window: "31", seconds: 1}, {window: "0", seconds: 1}, {window: "NaN", seconds: 1}, {window: "short", seconds: 1}, {window: "full", seconds: 0}} {
		if got, err := f.positions(e); err == nil {
			t.Errorf("%+v: %d positions, want an error", f, got)
		}
	}
}

func TestBenchTable(t *testing.T) {
	r := benchReport{
		Machine: machine{"Box", 2, 4e9}, Kernels: "avx2", Model: "tiny.en", ComputeType: "float32", Threads: 2, Positions: 1500, LoadMS: 301,
		MelMS: spreadOf([]float64{9, 7, 8}), EncoderMS: spread{500, 490, 510}, CrossMS: spread{50, 49, 51}, TokenMS: spread{64, 32, 96}.over(32),
		PeakRSSBytes: 123e6,
		Limits:       []limits{{1, 50e9, 100e9, 10e9}, {2, 100e9, 200e9, 73e9}},
	}
	r.rates(whisper.Dims{
		Mels: 80, AudioCtx: 1500, AudioState: 384, AudioHeads: 6, AudioLayers: 4,
		Vocab: 51864, TextCtx: 448, TextState: 384, TextHeads: 6, TextLayers: 4,
	})
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	// A token: 28.2 million weights and 4.7 million cached values of 4 bytes.
	const want = `machine             Box, cores: 2, memory: 4.0 GB
kernels             avx2
model               tiny.en, float32, threads: 2
window              30.0 s (1500 positions)
load                301 ms
features            8.00 ms (7.00 … 9.00) for 30 s, 1 thread
encoder             500 ms (490 … 510)                   73.9 GFLOP/s, 74 % of the limit
first token         50.00 ms (49.00 … 51.00) before it   70.8 GFLOP/s, 71 % of the limit
token               2.00 ms (1.00 … 3.00), 500 a second  65.8 GB/s, 90 % of the limit
peak memory         123 MB
limits, threads: 1  50.0 GFLOP/s in float32, 100.0 GOP/s in int8, reads 10.0 GB/s
limits, threads: 2  100.0 GFLOP/s in float32, 200.0 GOP/s in int8, reads 73.0 GB/s
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTokenBytes is the sum for int8 by hand: 8,257,536 weights of a byte, 19,915,776 of
// half a byte, 1500 positions of two bytes and 33 of four, each 3072 values.
func TestTokenBytes(t *testing.T) {
	r := benchReport{ComputeType: "int8", Positions: 1500}
	d := whisper.Dims{Vocab: 51864, TextState: 384, TextLayers: 4}
	if got, want := r.tokenBytes(d), float64(4*14*384*384+51864*384/2+3072*(2*1500+4*33)); got != want {
		t.Errorf("%.0f bytes, want %.0f", got, want)
	}
}

func TestProcessor(t *testing.T) {
	if got := thisMachine(); strings.TrimSpace(got.Processor) == "" || got.MemoryBytes < 64<<20 {
		t.Errorf("got %+v", got)
	}
}
