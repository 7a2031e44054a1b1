package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"earshot/audio/mel"
	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/oncpu"
	"earshot/whisper/weights"
)

// engineFlags choose a model and how it runs.
type engineFlags struct {
	model       string
	language    string
	threads     int
	computeType string
	window      string
}

func (f *engineFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.model, "model", "m", "tiny.en", "`NAME` of a model; earshot model list tells which are here")
	cmd.Flags().StringVarP(&f.language, "language", "l", "auto", "spoken language (en, de, \"French\", …), several with commas to choose from, or auto")
	cmd.Flags().IntVar(&f.threads, "threads", cpu.Threads(), "threads that compute")
	cmd.Flags().StringVar(&f.computeType, "compute-type", string(oncpu.Int8), "int8, or float32 for the accuracy of the reference at four times the memory")
}

// windowFlag adds --window.
func (f *engineFlags) windowFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.window, "window", "auto", "auto: what is said and 2 s of silence, longer where the text is doubtful; full: the model's 30 s")
}

func (f *engineFlags) checkWindow() error {
	if f.window != "auto" && f.window != "full" {
		return fmt.Errorf("--window %s: auto or full", f.window)
	}
	return nil
}

// languages is what whisper.Options takes: one language, or those to choose from,
// where none means all.
func (f *engineFlags) languages() (one string, among []string) {
	if f.language == "auto" {
		return "", nil
	}
	among = strings.Split(f.language, ",")
	if len(among) == 1 {
		return f.language, nil
	}
	return "", among
}

// openEngine loads a model from the store and puts it on the CPU. This is where
// backends are chosen.
func openEngine(env *Env, f engineFlags) (*whisper.Engine, error) {
	if f.threads < 1 {
		return nil, fmt.Errorf("--threads %d: at least 1", f.threads)
	}
	m, err := openModel(env, f.model)
	if err != nil {
		return nil, err
	}
	defer m.Close() // the engine has what it needs
	tokenizer, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	features, err := mel.New(m.Header.Dims.Mels)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", f.model, err)
	}
	network, err := openNetwork(m, f)
	if err != nil {
		return nil, err
	}
	engine := &whisper.Engine{
		Dims:          whisper.Dims(m.Header.Dims),
		Tokenizer:     tokenizer,
		Features:      features,
		Encoder:       network.Encoder,
		Decoder:       network.Decoder,
		LogSumExp:     cpu.LogSumExpF32,
		Suppress:      m.Header.Suppress,
		SuppressBegin: m.Header.SuppressAtBegin,
	}
	for _, h := range m.Header.AlignmentHeads {
		engine.AlignmentHeads = append(engine.AlignmentHeads, whisper.Head(h))
	}
	one, among := f.languages()
	if err := engine.Check(whisper.Options{Language: one, Languages: among}); err != nil {
		return nil, fmt.Errorf("--language %s with model %s: %w", f.language, f.model, err)
	}
	return engine, nil
}

// openNetwork puts a model on the CPU. In int8 it is mapped from a file beside the
// model, which is made where it is missing.
func openNetwork(m *weights.Model, f engineFlags) (*oncpu.Network, error) {
	pool := cpu.NewPool(f.threads)
	switch p := oncpu.Precision(f.computeType); p {
	case oncpu.Int8:
		return oncpu.Open(m, pool, m.PackedPath())
	case oncpu.Float32:
		return oncpu.New(m, pool, p)
	}
	return nil, fmt.Errorf("--compute-type %s: int8 or float32", f.computeType)
}

// packModel makes the file that int8 is mapped from, so that the first start is as fast
// as the next, and one that may not write to the state folder has it too. Without the
// file it takes longer and more memory, so that is no failure.
func packModel(env *Env, name string) {
	m, err := openModel(env, name)
	if err == nil {
		defer m.Close()
		err = oncpu.Pack(m, m.PackedPath())
	}
	if err != nil {
		fmt.Fprintln(env.Stderr, "earshot: note: will be packed at its first use:", err)
	}
}

func openModel(env *Env, name string) (*weights.Model, error) {
	path, err := weights.Store{Dir: filepath.Join(env.StateDir, "models")}.Path(name)
	if err != nil {
		return nil, err
	}
	return weights.Open(path)
}
