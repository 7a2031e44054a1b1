package wave

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzWAV runs the chunk walk and the decoding behind it.
func FuzzWAV(f *testing.F) {
	format, data := fmtChunk(tagPCM, 2, 16000, 16), chunk("data", ints(2, sound(64, 16)))
	f.Add(riff(format, data))
	f.Add(riff(chunk("LIST", make([]byte, 17)), format, chunk("fact", make([]byte, 4)), data, chunk("id3 ", make([]byte, 9))))
	f.Add(riff(extensible(tagPCM, 1, 48000, 24, 20), data))
	f.Add(riff(fmtChunk(tagFloat, 1, 8000, 64), data))
	f.Add(riff(fmtChunk(tagALaw, 1, 8000, 8), []byte("data\xff\xff\xff\xff1234")))
	f.Add(rf64("RF64", format, data))
	f.Add(rf64("BW64", format, nil))
	f.Fuzz(check)
}

// FuzzReader runs all containers. Checksums are made right where that lets the fuzzer
// get behind them.
func FuzzReader(f *testing.F) {
	for _, file := range containers(f, 1000) {
		f.Add(file)
	}
	f.Add(vorbisFile(1, 8000, 3))
	f.Add(mp3File(1, 3, 0, 0)[417:])
	f.Add(flacFile(f, 48000, 1, 24, sound(100, 24)))
	f.Fuzz(func(t *testing.T, file []byte) {
		file = bytes.Clone(file)
		resum(file)
		check(t, file)
	})
}

// check reads file and tests what a Reader promises.
func check(t *testing.T, file []byte) {
	r, err := NewReader(bytes.NewReader(file), "fuzz")
	if err != nil {
		if !isAbout(err) {
			t.Fatalf("unexplained error: %v", err)
		}
		return
	}
	defer r.Close()
	format, total := r.Format(), 0
	buf := make([]float32, 4096)
	const enough = 1 << 22 // a few bytes of FLAC may rightly be minutes of silence
	for err == nil && total < enough {
		var n int
		n, err = r.Read(buf)
		if n%format.Channels != 0 || n == 0 && err == nil {
			t.Fatalf("got %d samples of %d channels, error %v", n, format.Channels, err)
		}
		for _, s := range buf[:n] {
			if !(s >= -1 && s <= 1) {
				t.Fatalf("sample %g", s)
			}
		}
		total += n
	}
	if err != nil && !errors.Is(err, io.EOF) && !isAbout(err) {
		t.Fatalf("unexplained error: %v", err)
	}
	if errors.Is(err, io.EOF) && r.Info().Frames != int64(total/format.Channels) {
		t.Fatalf("%d frames, Info says %d", total/format.Channels, r.Info().Frames)
	}
	if len(r.Warnings()) > maxNotes+1 {
		t.Fatalf("%d warnings", len(r.Warnings()))
	}
}
