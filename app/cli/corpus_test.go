package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/whisper/backendtest"
)

// TestDamagedFiles gives files of every container to one call of transcribe, each of
// them cut, flipped and zero-filled in many places: for each there is a transcript or
// one line that names it, soon, and the others are still done.
func TestDamagedFiles(t *testing.T) {
	const size = 20_000 // bytes of each are enough: damage lies in all parts of it
	random := rand.New(rand.NewPCG(4, 0))
	dir := t.TempDir()
	var files []string
	for _, name := range []string{
		"jfk/jfk.wav", "wav-synthetic/rf64_ds64.wav", "wav-odd/audiomate_wavex_2_48k_24b.wav", "wav-synthetic/float32.wav",
		"librispeech-noisy/1688-142285-0003_telephone8k_mulaw.wav", "wav-odd/am_stereo_24bit.WAV", "speech-to-phrase-tts/fi_4.flac",
		"jfk/jfk.flac", "jfk/jfk.mp3", "wav-odd/audiomate_mp3_2_44_1k_16b.mp3", "nonspeech/bird_robin.ogg",
		"commonvoice-mls-aishell/mls_es_13697_11991_000000.opus",
	} {
		whole, err := os.ReadFile(backendtest.Shared(t, "audio/"+name))
		if err != nil {
			t.Fatal(err)
		}
		whole = whole[:min(len(whole), size)]
		rounds := 6
		if testing.Short() {
			rounds = 2
		}
		for i := range rounds {
			at := random.IntN(len(whole))
			if i%2 == 0 {
				at = random.IntN(200) // in the header
			}
			n := min(len(whole)-at, 1+random.IntN(2000))
			for how, damaged := range map[string][]byte{
				"cut": whole[:at], "flip": flipped(whole, at, random.IntN(8)), "zero": zeroed(whole, at, n), "gap": append(bytes.Clone(whole[:at]), whole[at+n:]...),
			} {
				path := filepath.Join(dir, fmt.Sprintf("%03d-%s-%s", len(files), how, filepath.Base(name)))
				if err := os.WriteFile(path, damaged, 0o666); err != nil {
					t.Fatal(err)
				}
				files = append(files, path)
			}
		}
	}
	r := newRig(t, say(said{}), transcribeFlags{engineFlags: engineFlags{language: "en"}})
	start := time.Now()
	err := r.run(context.Background(), files)
	some, ok := errors.AsType[someFailed](err)
	if !ok || some.total != len(files) || some.failed > len(files)/2 {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > time.Duration(len(files))*time.Second/2 {
		t.Errorf("%d files took %v", len(files), d)
	}
	if n := strings.Count(r.out.String(), "==> "); n != len(files) {
		t.Errorf("%d of %d files were begun", n, len(files))
	}
	refused := 0
	for line := range strings.Lines(r.err.String()) {
		if !strings.HasPrefix(line, "earshot: ") || !strings.Contains(line, dir) || len(line) > 1000 {
			t.Errorf("on standard error: %s", line)
		}
		if !strings.Contains(line, ": warning: ") {
			refused++
		}
	}
	if refused != some.failed {
		t.Errorf("%d files failed, %d lines say why", some.failed, refused)
	}
}

func flipped(file []byte, at, bit int) []byte {
	b := bytes.Clone(file)
	b[at] ^= 1 << bit
	return b
}

func zeroed(file []byte, at, n int) []byte {
	b := bytes.Clone(file)
	clear(b[at : at+n])
	return b
}
