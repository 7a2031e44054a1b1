package wave

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

// containers returns one made file of each container that can be read here. The sizes
// that differ are about n frames.
func containers(t testing.TB, n int) map[string][]byte {
	stereo := sound(2*n, 16)
	files := map[string][]byte{
		"WAV":    riff(fmtChunk(tagPCM, 2, 16000, 16), chunk("data", ints(2, stereo))),
		"RF64":   rf64("RF64", fmtChunk(tagPCM, 2, 16000, 16), ints(2, stereo)),
		"BW64":   rf64("BW64", extensible(tagPCM, 2, 16000, 24, 24), ints(3, stereo)),
		"float":  riff(fmtChunk(tagFloat, 1, 16000, 32), chunk("data", ints(4, stereo))),
		"FLAC":   flacFile(t, 16000, 2, 16, stereo),
		"MP3":    mp3File(2, n/500, 576, 1000),
		"Vorbis": vorbisFile(2, 16000, n/60),
	}
	if opus := opusFile(1, n/60); haveOpus(opus) {
		files["Opus"] = opus
	}
	return files
}

// haveOpus reports whether libopusfile is here.
func haveOpus(file []byte) bool {
	_, err := tryDecode(file)
	_, missing := errors.AsType[*FormatError](err)
	return !missing
}

// TestContainers: what is made here comes back with the right layout and length, from
// a pipe, and by the content alone: all names are the same.
func TestContainers(t *testing.T) {
	want := map[string]Info{
		"WAV":    {"WAV", "PCM", 16, 16000, 2, 6000},
		"RF64":   {"RF64", "PCM", 16, 16000, 2, 6000},
		"BW64":   {"BW64", "PCM", 24, 16000, 2, 6000},
		"float":  {"WAV", "IEEE float", 32, 16000, 1, 12000},
		"FLAC":   {"FLAC", "FLAC", 16, 16000, 2, 6000},
		"MP3":    {"MP3", "MP3", 0, 44100, 2, 12*1152 - 1576},
		"Vorbis": {"Ogg", "Vorbis", 0, 16000, 2, 12800},
		"Opus":   {"Ogg", "Opus", 0, 48000, 1, 96000 - 312},
	}
	for name, file := range containers(t, 6000) {
		got := decode(t, file)
		if got.info != want[name] || int64(got.frames()) != want[name].Frames || len(got.warnings) > 0 {
			t.Errorf("%s: got %+v, %d frames, warnings %q, want %+v", name, got.info, got.frames(), got.warnings, want[name])
		}
	}
}

// TestOpusMissing holds where libopusfile is not there, or cgo is off.
func TestOpusMissing(t *testing.T) {
	_, err := tryDecode(opusFile(1, 10))
	e, missing := errors.AsType[*FormatError](err)
	if !missing {
		t.Skip("libopusfile is here")
	}
	if e.Found != "Ogg Opus" || !strings.Contains(err.Error(), "libopusfile") {
		t.Errorf("got %v", err)
	}
}

// TestRecordings reads compressed recordings of the shared folder. C4, C63.
func TestRecordings(t *testing.T) {
	for _, tc := range []struct {
		dir, file string
		info      Info
	}{
		{"jfk", "jfk.flac", Info{"FLAC", "FLAC", 24, 44100, 2, 485100}},
		{"jfk", "jfk.mp3", Info{"MP3", "MP3", 0, 16000, 1, 176000}},
		{"librispeech-misc", "1272-141231-0002.mp3", Info{"MP3", "MP3", 0, 16000, 1, 213360}},
		{"wav-odd", "audiomate_mp3_2_44_1k_16b.mp3", Info{"MP3", "MP3", 0, 44100, 2, 222336}},
		{"wav-odd", "audiomate_flac_1_16k_16b.flac", Info{"FLAC", "FLAC", 16, 16000, 1, 103424}},
		{"nonspeech", "bird_robin.ogg", Info{"Ogg", "Vorbis", 0, 22050, 1, 59505}},
		{"commonvoice-mls-aishell", "mls_es_13697_11991_000000.opus", Info{"Ogg", "Opus", 0, 48000, 1, 712800}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			if tc.info.Codec == "Opus" && !haveOpus(opusFile(1, 10)) {
				t.Skip("libopusfile is not here")
			}
			got := decode(t, load(t, tc.dir, tc.file))
			if got.info != tc.info || int64(got.frames()) != tc.info.Frames || len(got.warnings) > 0 {
				t.Errorf("got %+v, %d frames, warnings %q, want %+v", got.info, got.frames(), got.warnings, tc.info)
			}
		})
	}
}

// TestMP3Aligned: the delays of encoder and decoder are taken off, so that MP3 and WAV
// of one recording are in step.
func TestMP3Aligned(t *testing.T) {
	for _, name := range [][2]string{{"jfk", "jfk"}, {"librispeech-misc", "1272-141231-0002"}} {
		want := decode(t, load(t, name[0], name[1]+".wav")).samples
		got := decode(t, load(t, name[0], name[1]+".mp3")).samples
		best, at := 0.0, 0
		for lag := -50; lag <= 50; lag++ {
			sum := 0.0
			for i := 20000; i < 120000; i++ {
				sum += float64(want[i]) * float64(got[i+lag])
			}
			if sum > best {
				best, at = sum, lag
			}
		}
		if at != 0 {
			t.Errorf("%s: the MP3 is %d samples late", name[1], at)
		}
		if d := db(got) - db(want); math.Abs(d) > 0.2 {
			t.Errorf("%s: the MP3 is %.2f dB louder", name[1], d)
		}
	}
}

// C4 and its kind: other formats are named.
func TestOtherFormats(t *testing.T) {
	for text, file := range map[string]string{
		"AIFF":         "FORM\x00\x00\x00\x20AIFFCOMM",
		"MP4":          "\x00\x00\x00\x20ftypM4A \x00\x00",
		"Matroska":     "\x1a\x45\xdf\xa3\x93\x42\x82",
		"AAC (ADTS)":   "\xff\xf1\x50\x80\x00\x1f\xfc",
		"layer 2":      "\xff\xfd\x84\x00" + strings.Repeat("\x00", 100),
		"version 2.5":  strings.Repeat("\xff\xe3\x88\xc4"+strings.Repeat("\x00", 572), 3),
		"Ogg with FLA": string(oggFile([][]byte{[]byte("\x7fFLAC\x01\x00"), {0}}, nil, nil, 1)),
		"starts with ": "hello, this is a text and no sound at all",
		"big-endian":   "RIFX\x00\x00\x00\x00WAVEfmt ",
		"AVI":          "RIFF\x00\x00\x00\x00AVI LIST",
	} {
		_, err := tryDecode([]byte(file))
		if e, ok := errors.AsType[*FormatError](err); !ok || !strings.Contains(e.Found, text) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// C16: opening takes no memory that a header asks for, and no time.
func TestOpenBounded(t *testing.T) {
	id3 := append([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), mp3File(1, 2, 0, 0)...)
	vorbis := vorbisFile(1, 16000, 1)
	book := bytes.Index(vorbis, []byte("BCV"))
	for name, change := range map[string]func(b []byte){
		"codebook of 2^24 entries":       func(b []byte) { copy(b[book+5:], "\xff\xff\xff") },
		"codebook without entries":       func(b []byte) { copy(b[book+5:], "\x00\x00\x00") },
		"codebook of 65535 dimensions":   func(b []byte) { copy(b[book+3:], "\xff\xff") },
		"a comment header of 4e9 fields": func(b []byte) { copy(b[bytes.Index(b, []byte("\x03vorbis"))+11:], "\xff\xff\xff\xff") },
	} {
		b := bytes.Clone(vorbis)
		change(b)
		resum(b)
		checkOpen(t, name, b)
	}
	checkOpen(t, "ID3 tag of 256 MiB", id3)
	checkOpen(t, "RF64 of 2^62 bytes", append(rf64("RF64", fmtChunk(tagPCM, 32, 16000, 16), nil)[:20], "\xff\xff\xff\xff\xff\xff\xff\x3f"...))
	for name, file := range containers(t, 6000) {
		checkOpen(t, name, file)
	}
	for _, name := range []string{"ps_bad.wav", "ps_awful.wav", "zero_bytes.wav", "header_only.wav"} {
		checkOpen(t, name, load(t, "wav-odd", name))
	}
}

// TestVorbisSetup: the library would never come back from these headers.
func TestVorbisSetup(t *testing.T) {
	if err := checkVorbisSetup(vorbisSetup(false, 0)[7:]); err != nil {
		t.Errorf("a sound header: %v", err)
	}
	for name, header := range map[string][]byte{
		"no code words":             vorbisSetup(true, 0),
		"a residue of 2^32 values":  vorbisSetup(false, 1),
		"cut off in the codebooks":  vorbisSetup(false, 0)[:20],
		"cut off behind the floors": vorbisSetup(false, 0)[:40],
	} {
		if err := checkVorbisSetup(header[7:]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func checkOpen(t *testing.T, name string, file []byte) {
	t.Helper()
	quick(t, name, func() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := NewReader(bytes.NewReader(file), name)
		if err == nil {
			r.Close()
		} else if !isAbout(err) {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: opening took %d bytes of heap", name, n)
		}
	})
}

// resum makes the checksums of all Ogg pages in b right again.
func resum(b []byte) {
	for at := 0; ; {
		next := bytes.Index(b[at:], []byte(oggMagic))
		if next < 0 {
			return
		}
		at += next
		_, size, _ := parseOgg(b[at:])
		if at+size > len(b) {
			return
		}
		le.PutUint32(b[at+22:], oggSum(b[at:at+size]))
		at += size
	}
}

// TestMemoryFlat: an endless stream does not grow the heap.
func TestMemoryFlat(t *testing.T) {
	mp3 := mp3File(2, 4, 0, 0)[417:] // without the tag, which tells the length
	for name, stream := range map[string]*loop{
		"WAV": {first: riff(fmtChunk(tagPCM, 2, 16000, 16), []byte("data\xff\xff\xff\xff")), again: make([]byte, 1<<16)},
		"MP3": {first: mp3, again: mp3},
	} {
		r, err := NewReader(stream, name)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]float32, 4096)
		heap := func(blocks int) uint64 {
			for range blocks {
				if _, err := r.Read(buf); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		early := heap(20)
		if late := heap(200); late > early+1<<17 {
			t.Errorf("%s: the heap grew from %d to %d bytes", name, early, late)
		}
	}
}

// loop reads first and then again, for ever.
type loop struct{ first, again, rest []byte }

func (l *loop) Read(p []byte) (int, error) {
	if l.first != nil {
		l.first, l.rest = nil, l.first
	}
	if len(l.rest) == 0 {
		l.rest = l.again
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
