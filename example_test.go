package earshot_test

import (
	"context"
	"fmt"
	"log"

	"earshot/audio"
	"earshot/audio/mel"
	"earshot/audio/wave"
	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/oncpu"
	"earshot/whisper/weights"
)

// Example transcribes a recording with the library alone. It is compiled but not
// run: path is a model that `earshot model pull` or `import` has made. A recording
// that is not 16 kHz mono goes through audio/resample first, one of more than 30 s
// through audio/vad, which cuts it into pieces.
func Example() {
	ctx := context.Background()
	path := "models/tiny.en.earshot"

	recording, err := wave.Open("talk.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer recording.Close()
	samples, err := audio.ReadAll(recording)
	if err != nil {
		log.Fatal(err)
	}

	model, err := weights.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	engine, err := newEngine(model)
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Transcribe(ctx, samples, whisper.Options{Language: "en"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
}

// newEngine puts a model on the CPU.
func newEngine(model *weights.Model) (*whisper.Engine, error) {
	tokenizer, err := model.Tokenizer()
	if err != nil {
		return nil, err
	}
	features, err := mel.New(model.Header.Dims.Mels)
	if err != nil {
		return nil, err
	}
	pool := cpu.NewPool(2)
	network, err := oncpu.New(model, pool, oncpu.Float32)
	if err != nil {
		return nil, err
	}
	return &whisper.Engine{
		Dims:          whisper.Dims(model.Header.Dims),
		Tokenizer:     tokenizer,
		Features:      features,
		Encoder:       network.Encoder,
		Decoder:       network.Decoder,
		Suppress:      model.Header.Suppress,
		SuppressBegin: model.Header.SuppressAtBegin,
	}, nil
}
