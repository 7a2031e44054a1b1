package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/app/config"
	"earshot/app/pipeline"
	"earshot/audio"
	"earshot/audio/vad"
	"earshot/audio/wave"
	"earshot/cpu"
	"earshot/store"
	"earshot/whisper"
)

func (s *service) storeOptions() store.Options {
	c := s.config.Store
	return store.Options{
		Dir:       s.env.StateDir,
		NoHistory: c.NoHistory(),
		Retention: store.Retention{
			KeepAudio: c.KeepsAudio(), AudioAge: c.KeepAudio.Age(), AudioBytes: int64(c.MaxAudioSize),
			TextAge: c.KeepText.Age(), TextBytes: int64(c.MaxTextSize),
		},
		MinFree: int64(c.MinFree), TextForSpace: c.DeleteTextIfFull,
		BackupEvery: c.BackupEvery, Backups: c.Backups, Now: s.env.Now,
	}
}

func (s *service) pipelineOptions() pipeline.Options {
	o, c := pipeline.Defaults(), s.config
	e := c.Endpointing
	o.Endpoints = vad.Options{
		Threshold: float32(e.Threshold), EndThreshold: float32(e.EndThreshold), BackgroundDB: e.BackgroundDB,
		MinSpeech: e.MinSpeech, MinSilence: e.MinSilence, PreRoll: e.PreRoll, Trail: e.Trail, Longest: e.Longest,
		Apart: o.Endpoints.Apart,
	}
	o.Ahead = e.Speculate
	if !c.Live.Partials {
		o.Captions = 0
	}
	o.KeepCaptions = !slices.Contains(c.Live.WhenSlow, "drop-partials")
	o.Waiting = c.Live.Queue
	if !slices.Contains(c.Live.WhenSlow, "later") {
		o.Waiting = time.Hour
	}
	o.KeepAudio = c.Store.KeepsAudio()
	o.Source, o.Language, o.Backend = c.Source, c.Language, "cpu"
	o.ClipType = "wav"
	o.WriteClip = func(w io.WriteSeeker, x []float32) error { return wave.WriteMono16(w, audio.SampleRate, x) }
	o.ReadClip = readClip
	o.Log, o.Now = s.log, s.env.Now
	return o
}

// soundOptions are what the configuration says about sound, as options of a source. They
// give way to what stands in the source itself.
func soundOptions(c config.Audio) string {
	o := url.Values{"channel": {c.Channel}}
	for name, value := range map[string]string{"gain": c.Gain, "filter": c.HighPass} {
		if value != "auto" {
			o.Set(name, value)
		}
	}
	return o.Encode()
}

// readClip reads a clip, which is no longer than an utterance.
func readClip(path string) ([]float32, error) {
	f, err := wave.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	samples := make([]float32, whisper.WindowSeconds*audio.SampleRate+1)
	n := 0
	for n < len(samples) {
		var m int
		m, err = f.Read(samples[n:])
		if n += m; err != nil {
			break
		}
	}
	switch info := f.Info(); {
	case err == nil:
		return nil, fmt.Errorf("%s: longer than %d s", path, whisper.WindowSeconds)
	case !errors.Is(err, io.EOF):
		return nil, err
	case info.Rate != audio.SampleRate || info.Channels != 1:
		return nil, fmt.Errorf("%s: %d Hz, channels: %d; not a clip", path, info.Rate, info.Channels)
	}
	return samples[:n], nil
}

// models are the one that was asked for and, for times when it is too slow, a smaller
// one, which is loaded when it is needed.
func (s *service) models() ([]pipeline.Model, error) {
	first, err := s.openModel(s.config.Model)
	if err != nil {
		return nil, err
	}
	all := []pipeline.Model{first}
	name, err := s.smaller()
	if err != nil || name == "" {
		return all, err
	}
	later := &laterModel{open: func() (pipeline.Model, error) { return s.openModel(name) }}
	return append(all, pipeline.Model{Name: name, Final: later}), nil
}

func (s *service) openModel(name string) (pipeline.Model, error) {
	f := engineFlags{model: name, language: s.config.Language, threads: s.config.Threads, computeType: s.config.ComputeType}
	if f.threads == 0 {
		f.threads = cpu.Threads()
	}
	engine, err := openEngine(s.env, f)
	if err != nil {
		return pipeline.Model{}, err
	}
	one, among := f.languages()
	o := whisper.Options{
		Language: one, Languages: among, FullWindow: s.config.Window == "full",
		Prompt: s.config.Prompt, Hotwords: s.config.Hotwords,
	}
	caption := &whisper.Listener{Engine: engine, Options: o}
	caption.Options.Temperatures, caption.Options.Draft = []float64{0}, true
	o.Words = true
	return pipeline.Model{Name: name, Final: &whisper.Listener{Engine: engine, Options: o}, Caption: caption}, nil
}

// smaller is the name of the model to take when the first is too slow; empty for none.
func (s *service) smaller() (string, error) {
	if !slices.Contains(s.config.Live.WhenSlow, "smaller-model") {
		return "", nil
	}
	if name := s.config.Live.SmallerModel; name != "auto" {
		return name, nil
	}
	all, err := modelStore(s.env).List()
	if err != nil {
		return "", err
	}
	var limit int
	for _, m := range all {
		if m.Name == s.config.Model {
			limit = m.Header.Dims.TextState * m.Header.Dims.TextLayers
		}
	}
	name, size := "", 0
	for _, m := range all {
		if strings.HasSuffix(m.Name, ".en") && s.config.Language != "en" && !strings.HasSuffix(s.config.Model, ".en") {
			continue // it knows one language only
		}
		if n := m.Header.Dims.TextState * m.Header.Dims.TextLayers; m.Err == nil && n < limit && n > size {
			name, size = m.Name, n
		}
	}
	return name, nil
}

// laterModel is a model that is loaded at its first use.
type laterModel struct {
	open  func() (pipeline.Model, error)
	once  sync.Once
	model pipeline.Model
	err   error
}

func (l *laterModel) Piece(ctx context.Context, samples []float32, breaks ...float64) (whisper.Heard, error) {
	if l.once.Do(func() { l.model, l.err = l.open() }); l.err != nil {
		return whisper.Heard{}, l.err
	}
	return l.model.Final.Piece(ctx, samples, breaks...)
}
