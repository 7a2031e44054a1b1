package whisper_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"earshot/app/eval"
	"earshot/audio"
	"earshot/audio/mel"
	"earshot/audio/resample"
	"earshot/audio/wave"
	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
	"earshot/whisper/weights"
)

// The golden files were made by another engine in float32 on the same weights (see
// shared/golden/make.py): each clip padded with zeros to 30 s and decoded greedily
// in one window without timestamps.
//
// `make test` compares a part of the clips, `make golden` (EARSHOT_GOLDEN=full) all.

type goldenFile struct {
	Clips map[string]*goldenClip
}

type goldenClip struct {
	Language string
	Prompt   []int
	Plain    struct {
		Tokens []int
		Text   string
	}
}

// rig is an engine and what the test looks at behind its back.
type rig struct {
	engine *whisper.Engine
	header weights.Header
}

func newRig(t *testing.T, model string) *rig {
	t.Helper()
	m := backendtest.Model(t, model)
	tokenizer, err := m.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	features, err := mel.New(m.Header.Dims.Mels)
	if err != nil {
		t.Fatal(err)
	}
	pool := cpu.NewPool(2)
	t.Cleanup(pool.Close)
	encoder, err := oncpu.NewEncoder(m, pool)
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := oncpu.NewDecoder(m, pool)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{
		engine: &whisper.Engine{
			Dims: whisper.Dims(m.Header.Dims), Tokenizer: tokenizer, Features: features,
			Encoder: encoder, Decoder: decoder,
			Suppress: m.Header.Suppress, SuppressBegin: m.Header.SuppressAtBegin,
		},
		header: m.Header,
	}
}

func TestGoldenTokens(t *testing.T) {
	for _, model := range []string{"tiny.en", "base"} {
		t.Run(model, func(t *testing.T) { goldenTokens(t, model) })
	}
}

func goldenTokens(t *testing.T, model string) {
	var golden goldenFile
	readJSON(t, backendtest.Shared(t, "golden/"+model+".json"), &golden)
	r := newRig(t, model)
	var identical, compared int
	var otherRate eval.Score
	for _, name := range chosen(golden.Clips) {
		want := golden.Clips[name]
		samples, lossless := readClip(t, backendtest.Shared(t, "audio/"+name))
		opts := whisper.Options{Language: want.Language, MaxTokens: r.engine.Dims.TextCtx, NoLoopGuard: true}
		got, err := r.engine.Transcribe(context.Background(), samples, opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !lossless {
			otherRate.Add(eval.Compare(want.Plain.Text, got.Text, "en"))
			continue
		}
		compared++
		if slices.Equal(got.Tokens, want.Plain.Tokens) {
			identical++
			continue
		}
		gap := r.gap(t, samples, want, got.Tokens)
		t.Logf("%s differs, logit gap %.4f\n got %q\nwant %q", name, gap, got.Text, want.Plain.Text)
		if gap >= 0.05 {
			t.Errorf("%s: differs where the logits are %.4f apart, which is no near tie", name, gap)
		}
	}
	errors := otherRate.WordEdit.Total()
	t.Logf("%s: %d of %d lossless 16 kHz clips identical; %d other clips: %d of %d words unlike golden's",
		model, identical, compared, otherRate.Clips, errors, otherRate.Words)
	if float64(identical) < 0.98*float64(compared) {
		t.Errorf("%d of %d clips identical, want 98 %%", identical, compared)
	}
	if float64(errors) > 0.03*float64(otherRate.Words) {
		t.Errorf("other rates: WER %.2f %% against golden's texts, want at most 3 %%", 100*float64(errors)/float64(otherRate.Words))
	}
}

// quick are the clips of the short run: those of one LibriSpeech speaker, and some
// of every other set.
var quick = regexp.MustCompile(`^(jfk/|librispeech-test-other/(1688|.*-000[37])|ljspeech/.*-000[12]|librispeech-misc/.*[kc]$|azure-customspeech/(ja|fr)|speech-to-phrase-tts/[a-f])`)

func chosen(clips map[string]*goldenClip) []string {
	var names []string
	for name := range clips {
		if os.Getenv("EARSHOT_GOLDEN") == "full" || quick.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readClip reads a recording at 16 kHz, and says whether its samples needed neither
// a resampler nor a lossy decoder.
func readClip(t *testing.T, file string) (samples []float32, lossless bool) {
	t.Helper()
	in, err := wave.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	converted, err := resample.To16k(in)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if samples, err = audio.ReadAll(converted); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return samples, in.Info().Rate == audio.SampleRate && path.Ext(file) != ".mp3"
}

// gap is how far apart our logits of the two tokens are where the sequences part,
// when the decoder has heard golden's tokens up to there.
func (r *rig) gap(t *testing.T, samples []float32, want *goldenClip, got []int) float64 {
	t.Helper()
	end := r.engine.Tokenizer.EndOfText
	a, b := append(slices.Clone(want.Plain.Tokens), end), append(slices.Clone(got), end)
	at := 0
	for a[at] == b[at] {
		at++
	}
	ctx := context.Background()
	frames := 2 * r.engine.Dims.AudioCtx
	enc, err := r.engine.Encoder.Encode(ctx, whisper.Mel{Bands: r.engine.Dims.Mels, Frames: frames, Data: r.engine.Features.LogMel(samples, frames)})
	if err != nil {
		t.Fatal(err)
	}
	session, err := r.engine.Decoder.Begin(ctx, []whisper.Encoded{enc}, whisper.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	out, err := session.Step(ctx, []whisper.Input{{Tokens: append(slices.Clone(want.Prompt), a[:at]...), Rows: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return math.Abs(float64(out.Logits[0][a[at]] - out.Logits[0][b[at]]))
}

// TestGoldenEncoder compares every 50th encoder position of one clip.
func TestGoldenEncoder(t *testing.T) {
	for _, model := range []string{"tiny.en", "base"} {
		t.Run(model, func(t *testing.T) {
			r := newRig(t, model)
			shape, want := readNPY(t, backendtest.Shared(t, "golden/encoder-"+model+"-jfk-every50.npy"))
			samples, _ := readClip(t, backendtest.Shared(t, "audio/jfk/jfk.wav"))
			frames := 2 * r.engine.Dims.AudioCtx
			got, err := r.engine.Encoder.Encode(context.Background(), whisper.Mel{Bands: r.engine.Dims.Mels, Frames: frames, Data: r.engine.Features.LogMel(samples, frames)})
			if err != nil {
				t.Fatal(err)
			}
			width := r.engine.Dims.AudioState
			if !slices.Equal(shape, []int{got.Positions / 50, width}) {
				t.Fatalf("golden shape %v", shape)
			}
			worst := 0.0
			for i := range shape[0] {
				for c := range width {
					worst = max(worst, math.Abs(float64(got.Data[i*50*width+c]-want[i*width+c])))
				}
			}
			t.Logf("%s: largest difference %.2g", model, worst)
			if !(worst <= 2e-3) {
				t.Errorf("largest difference %g, want at most 2e-3", worst)
			}
		})
	}
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var npyShape = regexp.MustCompile(`'descr': '<f4'.*'shape': \((\d+), (\d+)\)`)

// readNPY reads a two-dimensional float32 array as numpy.save writes it.
func readNPY(t *testing.T, file string) (shape []int, values []float32) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	m := npyShape.FindSubmatch(data[:body])
	if m == nil {
		t.Fatalf("%s: not a float32 matrix: %q", file, data[:body])
	}
	size := 1
	for _, s := range m[1:] {
		n, _ := strconv.Atoi(string(s))
		shape, size = append(shape, n), size*n
	}
	values = make([]float32, size)
	if err := binary.Read(bytes.NewReader(data[body:]), binary.LittleEndian, values); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return shape, values
}
