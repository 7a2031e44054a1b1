package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"earshot/audio/vad"
	"earshot/whisper"
)

func transcribeCommand(env *Env) *cobra.Command {
	var flags engineFlags
	cmd := &cobra.Command{
		Use:   "transcribe FILE…",
		Short: "Write down what is said in audio files",
		Long: `Write down what is said in audio files, on standard output.

A line comes out as soon as a stretch of up to 30 s is done. "-" reads standard
input. The content of a file decides what it is, not its name. With several files
each text comes behind a line "==> FILE <==". A file that can't be read does not
keep the others from being done.`,
		Example: "  earshot transcribe meeting.wav\n  arecord -d 10 -f S16_LE -r 16000 | earshot transcribe -",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			engine, err := openEngine(env, flags)
			if err != nil {
				return err
			}
			return transcribeFiles(cmd.Context(), env, engine, whisper.Options{Language: flags.wanted()}, files)
		},
	}
	flags.add(cmd)
	return cmd
}

func transcribeFiles(ctx context.Context, env *Env, engine *whisper.Engine, opts whisper.Options, files []string) error {
	failed := 0
	for _, file := range files {
		if len(files) > 1 {
			fmt.Fprintf(env.Stdout, "==> %s <==\n", file)
		}
		if err := transcribeFile(ctx, env, engine, opts, file); err != nil {
			if ctx.Err() != nil || len(files) == 1 {
				return err
			}
			fmt.Fprintln(env.Stderr, "earshot:", err)
			failed++
		}
	}
	if failed > 0 {
		return someFailed{failed, len(files)}
	}
	return nil
}

func transcribeFile(ctx context.Context, env *Env, engine *whisper.Engine, opts whisper.Options, file string) error {
	in, err := openRecording(env, file)
	if err != nil {
		return err
	}
	defer in.Close()
	bar := newAudioProgress(env, file, in.samples())
	defer func() {
		bar.close()
		in.warn(env.Stderr)
	}()
	opts.Partial = bar.partial
	_, err = hear(ctx, engine, opts, in, func(samples int, text string) error {
		bar.reached(samples)
		if text == "" {
			return nil
		}
		return bar.print(env.Stdout, text)
	})
	return err
}

// heard is what an engine made of one recording.
type heard struct {
	texts          []string // one for each piece with words, without spaces around it
	language       string   // code, of the last piece
	tokens         int
	samples        int           // at 16 kHz
	encode, decode time.Duration // see whisper.Result
}

// text is all pieces, with one space between two.
func (h *heard) text() string { return strings.Join(h.texts, " ") }

// hear transcribes a recording piece by piece. It calls done, if that is not nil,
// behind each piece with the samples done so far and the piece's text, which may be
// empty. Where reading fails, what was read before is transcribed first.
func hear(ctx context.Context, engine *whisper.Engine, opts whisper.Options, in *recording, done func(samples int, text string) error) (*heard, error) {
	h := &heard{}
	for piece, readErr := range vad.Pieces(in.mono, whisper.WindowSeconds*time.Second) {
		r, err := engine.Transcribe(ctx, piece.Samples, opts)
		if err != nil {
			return h, fmt.Errorf("%s: %w", in.name, err)
		}
		text := strings.TrimSpace(r.Text)
		if text != "" {
			h.texts = append(h.texts, text)
		}
		h.language = r.Language
		h.tokens += len(r.Tokens)
		h.samples += len(piece.Samples)
		h.encode += r.EncodeTime
		h.decode += r.DecodeTime
		if done != nil {
			if err := done(h.samples, text); err != nil {
				return h, fmt.Errorf("write the text of %s: %w", in.name, err)
			}
		}
		if readErr != nil {
			return h, readErr
		}
	}
	return h, nil
}
