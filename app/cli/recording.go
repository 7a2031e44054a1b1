package cli

import (
	"fmt"
	"io"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/wave"
)

// recording is an audio file, or standard input, on its way to 16 kHz mono.
type recording struct {
	name string
	file *wave.Reader
	mono audio.Source
}

// openRecording opens a file; "-" is standard input.
func openRecording(env *Env, path string) (*recording, error) {
	r := &recording{name: path}
	var err error
	if path == "-" {
		r.name = "standard input"
		r.file, err = wave.NewReader(env.Stdin, r.name)
	} else {
		r.file, err = wave.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if r.mono, err = resample.To16k(r.file); err != nil {
		r.file.Close()
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return r, nil
}

func (r *recording) Close() error { return r.file.Close() }

// samples is the length at 16 kHz, or -1 when only the end will tell.
func (r *recording) samples() int64 {
	info := r.file.Info()
	if info.Frames < 0 {
		return -1
	}
	return resample.Length(info.Frames, info.Rate)
}

// warn writes what was odd about the file.
func (r *recording) warn(w io.Writer) {
	for _, text := range r.file.Warnings() {
		fmt.Fprintf(w, "earshot: %s: warning: %s\n", r.name, text)
	}
}
