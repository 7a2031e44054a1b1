package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"earshot/app/export"
	"earshot/audio"
	"earshot/whisper"
)

// transcribeFlags are the flags of `earshot transcribe`.
type transcribeFlags struct {
	engineFlags
	outputFlags
	task         string
	beam         int
	prompt       string
	hotwords     string
	temperatures []float64
	noVAD        bool
	sequential   bool
	channels     string
}

func transcribeCommand(env *Env) *cobra.Command {
	var f transcribeFlags
	cmd := &cobra.Command{
		Use:   "transcribe FILE…",
		Short: "Write down what is said in audio files",
		Long: `Write down what is said in audio files, on standard output or, with
--output-dir, into files.

Text comes out as soon as a stretch of up to 30 s is done. "-" reads standard
input. The content of a file decides what it is, not its name. With several files
on standard output each text comes behind a line "==> FILE <==". A file that can't
be read does not keep the others from being done.`,
		Example: "  earshot transcribe meeting.wav\n" +
			"  earshot transcribe --format srt,json --output-dir out *.mp3\n" +
			"  arecord -d 10 -f S16_LE -r 16000 | earshot transcribe -",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			t, err := newTranscription(env, f)
			if err != nil {
				return err
			}
			return t.run(cmd.Context(), files)
		},
	}
	f.engineFlags.add(cmd)
	f.windowFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.task, "task", "transcribe", "transcribe, or translate into English")
	flags.IntVar(&f.beam, "beam", 1, "texts considered at a time; 1 is greedy")
	flags.StringVar(&f.prompt, "prompt", "", "text that the speech follows on, for names and style")
	flags.StringVar(&f.hotwords, "hotwords", "", "words that are likely")
	flags.Float64SliceVar(&f.temperatures, "temperature", nil, "temperatures `T,…` tried until a text is good enough (default 0 to 1 in steps of 0.2)")
	flags.Lookup("temperature").DefValue = "" // for --help, which would say "[]"
	flags.StringSliceVarP(&f.formats, "format", "f", nil, "txt, srt, vtt, json, jsonl, tsv, lrc or md; several with commas (default txt)")
	flags.StringVarP(&f.dir, "output-dir", "o", "", "write FILE.FORMAT into this folder instead of standard output")
	flags.BoolVar(&f.jsonLines, "json-lines", false, "print one JSON object for each segment as it comes")
	flags.BoolVar(&f.words, "word-timestamps", false, "give the times of words too (json, jsonl, vtt)")
	flags.BoolVar(&f.noVAD, "no-vad", false, "transcribe everything, not only where somebody speaks")
	flags.BoolVar(&f.sequential, "sequential", false, "windows of 30 s that follow the model's own timestamps; implies --no-vad")
	flags.StringVar(&f.channels, "channels", "mix", "mix, each, or the number of one channel")
	return cmd
}

// transcription is one call of `earshot transcribe`.
type transcription struct {
	env     *Env
	flags   transcribeFlags
	formats []export.Format
	channel audio.Channel
	listener
}

// newTranscription checks the flags and loads what they ask for.
func newTranscription(env *Env, f transcribeFlags) (*transcription, error) {
	t := &transcription{env: env, flags: f}
	var err error
	if t.formats, err = f.outputFlags.parse(); err != nil {
		return nil, err
	}
	if t.channel, err = audio.ParseChannel(f.channels); err != nil {
		return nil, fmt.Errorf("--channels: %w", err)
	}
	switch {
	case f.task != "transcribe" && f.task != "translate":
		return nil, fmt.Errorf("--task %s: transcribe or translate", f.task)
	case f.beam < 1 || f.beam > maxBeam:
		return nil, fmt.Errorf("--beam %d: 1 to %d", f.beam, maxBeam)
	}
	if err = f.checkWindow(); err != nil {
		return nil, err
	}
	if t.engine, err = openEngine(env, f.engineFlags); err != nil {
		return nil, err
	}
	t.batch = whisper.NewBatch(t.engine, room)
	if !f.noVAD && !f.sequential {
		if t.detector, err = openDetector(env); err != nil {
			return nil, err
		}
	}
	t.sequential = f.sequential
	language, among := f.languages()
	t.options = whisper.Options{
		Language:     language,
		Languages:    among,
		Translate:    f.task == "translate",
		Words:        true, // segments follow from the words
		Beam:         f.beam,
		Temperatures: f.temperatures,
		Prompt:       f.prompt,
		Hotwords:     f.hotwords,
		FullWindow:   f.window == "full",
	}
	return t, t.engine.Check(t.options)
}

// checkFiles refuses what the names of the files already show to be impossible.
func (t *transcription) checkFiles(files []string) error {
	if t.flags.dir == "" {
		if len(files) > 1 && t.formats[0] != export.TXT && t.formats[0] != export.JSONL {
			return fmt.Errorf("several files in %s need --output-dir: standard output holds one", t.formats[0])
		}
		return nil
	}
	from := map[string]string{}
	for _, file := range files {
		name := baseName(file)
		if other, taken := from[name]; taken {
			return fmt.Errorf("%s and %s would both become %s in %s: transcribe them apart", other, file, name+"."+string(t.formats[0]), t.flags.dir)
		}
		from[name] = file
	}
	return nil
}

// maxBeam bounds the memory of a beam: each text has a cache of its own.
const maxBeam = 16

func (t *transcription) run(ctx context.Context, files []string) error {
	if err := t.checkFiles(files); err != nil {
		return err
	}
	failed := 0
	for i, file := range files {
		if len(files) > 1 && t.flags.dir == "" && t.formats[0] == export.TXT {
			fmt.Fprintf(t.env.Stdout, "==> %s <==\n", file)
		}
		if err := t.file(ctx, file); err != nil {
			if ctx.Err() != nil {
				return interrupted{someFailed{len(files) - i + failed, len(files)}}
			}
			if len(files) == 1 {
				return err
			}
			fmt.Fprintln(t.env.Stderr, "earshot:", err)
			failed++
		}
	}
	if failed > 0 {
		return someFailed{failed, len(files)}
	}
	return nil
}

// file transcribes one file. What was heard before an error is written.
func (t *transcription) file(ctx context.Context, file string) error {
	channels := []audio.Channel{t.channel}
	var copies []string
	if t.channel == audio.Each {
		if file == "-" {
			return errors.New("--channels each reads a file once for each channel; standard input can't be read twice")
		}
		var err error
		if channels, copies, err = speakerChannels(ctx, file); err != nil {
			return err
		}
	}
	for _, c := range copies {
		fmt.Fprintf(t.env.Stderr, "earshot: %s: note: %s\n", file, c)
	}
	in, err := openRecording(t.env, file, channels[0])
	if err != nil {
		return err
	}
	out, err := newOutput(t.env.Stdout, t.flags.dir, t.formats, t.head(file, in), export.Options{WordTimes: t.flags.words})
	if err != nil {
		in.Close()
		return err
	}
	out.note(copies...)
	if len(channels) == 1 {
		err = t.channelOf(ctx, in, out, out.add)
	} else {
		err = t.each(ctx, file, in, channels, out)
	}
	if ctx.Err() != nil && t.flags.dir != "" {
		out.abandon() // what stood there before is worth more than a beginning
		return ctx.Err()
	}
	paths, closeErr := out.close()
	for _, p := range paths {
		fmt.Fprintln(t.env.Stdout, p)
	}
	return errors.Join(err, closeErr)
}

// head is what is known of a transcript before the first word.
func (t *transcription) head(file string, in *recording) export.Transcript {
	head := export.Transcript{Title: file, Task: t.flags.task, Language: t.options.Language, Model: t.flags.model}
	if n := in.samples(); n >= 0 {
		head.Duration = float64(n) / audio.SampleRate
	}
	if info, err := os.Stat(file); err == nil {
		head.Created = info.ModTime().Truncate(time.Second)
	}
	return head
}

// channelOf transcribes one channel and closes its recording. It tells out what only
// reading the recording tells.
func (t *transcription) channelOf(ctx context.Context, in *recording, out *output, segment func(export.Segment) error) error {
	defer in.Close()
	declared := in.samples()
	bar := newAudioProgress(t.env, in.name, declared)
	l := t.listener
	l.options.Partial = bar.partial
	l.reached = func(samples int) {
		bar.reached(samples)
		if int64(samples) > declared { // the header says less than there is
			out.update(export.Transcript{Duration: float64(samples) / audio.SampleRate})
		}
	}
	l.segment = func(s export.Segment) error {
		if !t.flags.words {
			s.Words = nil
		}
		return segment(s)
	}
	h, err := l.hear(ctx, in)
	bar.close()
	out.note(in.file.Warnings()...)
	out.conclude(h)
	in.warn(t.env.Stderr)
	for _, w := range h.warnings {
		fmt.Fprintf(t.env.Stderr, "earshot: %s: warning: %.1f–%.1f s: %s\n", in.name, w.Start, w.End, w.Text)
	}
	return err
}

// each transcribes channels one after the other and writes them as one
// conversation, by the time at which each says something.
func (t *transcription) each(ctx context.Context, file string, in *recording, channels []audio.Channel, out *output) error {
	var all []export.Segment
	var failed error
	for i, channel := range channels {
		if i > 0 {
			var err error
			if in, err = openRecording(t.env, file, channel); err != nil {
				return err
			}
		}
		err := t.channelOf(ctx, in, out, func(s export.Segment) error {
			s.Speaker = fmt.Sprintf("channel %d", channel)
			all = append(all, s)
			return nil
		})
		if err != nil {
			failed = err // what was heard so far is written
			break
		}
	}
	slices.SortStableFunc(all, func(a, b export.Segment) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range all {
		if err := out.add(s); err != nil {
			return err
		}
	}
	return failed
}
