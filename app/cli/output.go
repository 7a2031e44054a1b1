package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"earshot/app/export"
	"earshot/audio"
)

// outputFlags say where transcripts go and in what form.
type outputFlags struct {
	formats   []string
	dir       string
	jsonLines bool
	words     bool
}

// parse returns the formats asked for, and refuses what can't be done.
func (f *outputFlags) parse() ([]export.Format, error) {
	names := f.formats
	if f.jsonLines {
		if len(names) > 0 {
			return nil, errors.New("--json-lines and --format: only one of them")
		}
		names = []string{"jsonl"}
	}
	if len(names) == 0 {
		names = []string{"txt"}
	}
	var formats []export.Format
	for _, name := range names {
		format, err := export.ParseFormat(name)
		if err != nil {
			return nil, fmt.Errorf("--format: %w", err)
		}
		if !slices.Contains(formats, format) {
			formats = append(formats, format)
		}
	}
	if len(formats) > 1 && f.dir == "" {
		return nil, errors.New("several formats need --output-dir: standard output holds one")
	}
	return formats, nil
}

// output writes one recording's transcript in every format that was asked for.
type output struct {
	writers []*export.Writer
	files   []*partialFile
	known   export.Transcript // of the recording, from reading it
}

// partialFile is a file that gets its name when it is complete.
type partialFile struct {
	*bufio.Writer
	file *os.File
	path string
}

// newOutput starts the files of one recording, or one transcript on stdout.
func newOutput(stdout io.Writer, dir string, formats []export.Format, head export.Transcript, opts export.Options) (*output, error) {
	o := &output{}
	for _, format := range formats {
		w := stdout
		if dir != "" {
			f, err := createPartial(filepath.Join(dir, baseName(head.Title)+"."+string(format)))
			if err != nil {
				o.abandon()
				return nil, err
			}
			o.files = append(o.files, f)
			w = f
		}
		writer, err := export.NewWriter(w, format, head, opts)
		if err != nil {
			o.abandon()
			return nil, err
		}
		o.writers = append(o.writers, writer)
	}
	return o, nil
}

// baseName is the name of a recording without folder and ending.
func baseName(path string) string {
	if path == "-" {
		return "stdin"
	}
	base := filepath.Base(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

func createPartial(path string) (*partialFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	return &partialFile{bufio.NewWriter(f), f, path}, nil
}

func (o *output) add(s export.Segment) error {
	for _, w := range o.writers {
		if err := w.Append(s); err != nil {
			return err
		}
	}
	return nil
}

// conclude tells the writers what came out of a channel; the channel with most gaps
// says how much of the recording is covered.
func (o *output) conclude(h *heard) {
	coverage := h.coverage()
	if before := o.known.Coverage; before != nil {
		coverage = min(coverage, *before)
	}
	o.known.Coverage = &coverage
	o.known.Duration = max(o.known.Duration, float64(h.samples)/audio.SampleRate)
	o.known.Language = cmp.Or(o.known.Language, h.language)
	o.known.Warnings = append(o.known.Warnings, h.warnings...)
	o.update(o.known)
}

// note adds remarks on the recording as a whole to what the writers tell.
func (o *output) note(texts ...string) {
	for _, text := range texts {
		if w := (export.Warning{Text: text}); !slices.Contains(o.known.Warnings, w) {
			o.known.Warnings = append(o.known.Warnings, w)
		}
	}
}

func (o *output) update(known export.Transcript) {
	for _, w := range o.writers {
		w.Update(known)
	}
}

// close completes the transcripts and returns the paths of the files.
func (o *output) close() (paths []string, err error) {
	for _, w := range o.writers {
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		o.abandon()
		return nil, err
	}
	for _, f := range o.files {
		if e := f.commit(); e != nil {
			err = errors.Join(err, e)
			continue
		}
		paths = append(paths, f.path)
	}
	return paths, err
}

// commit gives the file its name; what stood there is replaced whole.
func (f *partialFile) commit() error {
	err := errors.Join(f.Flush(), f.file.Close())
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.file.Name())
	}
	return err
}

// abandon removes files that did not become complete.
func (o *output) abandon() {
	for _, f := range o.files {
		f.file.Close()
		os.Remove(f.file.Name())
	}
}
