package cli

import (
	"context"
	"fmt"
	"io"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/wave"
)

// recording is one channel, or the mix, of an audio file or of standard input on
// its way to 16 kHz mono.
type recording struct {
	name string
	file *wave.Reader
	mono audio.Source
}

// openRecording opens a file; "-" is standard input.
func openRecording(env *Env, path string, channel audio.Channel) (*recording, error) {
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
	mono, err := audio.Mono(r.file, channel)
	if err == nil {
		r.mono, err = resample.To16k(mono)
	}
	if err != nil {
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

// speakerChannels lists the channels of a file that are to be transcribed each for
// itself: copies of another channel are one speaker (cases.md, C19). copies says
// which those are.
func speakerChannels(ctx context.Context, path string) (channels []audio.Channel, copies []string, err error) {
	f, err := wave.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	same, err := audio.SameChannels(&counter{Source: f, ctx: ctx})
	if err != nil {
		return nil, nil, err
	}
	for i, first := range same {
		if first == i {
			channels = append(channels, audio.Channel(i+1))
		} else {
			copies = append(copies, fmt.Sprintf("channel %d is the same as channel %d", i+1, first+1))
		}
	}
	return channels, copies, nil
}
