package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"

	"earshot/whisper/token"
)

// bundle is a model in a container of others: one file of weights and small files
// that describe it.
type bundle struct {
	format  format
	weights input
	// file returns a describing file by its name, fs.ErrNotExist if there is none.
	file    func(name string) ([]byte, error)
	from    string // path, for Source
	closers []io.Closer
}

// Close closes the archives that the bundle is read from.
func (b *bundle) Close() error {
	var err error
	for _, c := range b.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// inspect reads everything but the values: the header that the model file will
// have, and the tokenizer's words.
func (b *bundle) inspect() (Header, [][]byte, error) {
	vars := map[string]variable{}
	in, closer, err := b.openWeights(nil)
	if err != nil {
		return Header{}, nil, err
	}
	defer closer.Close()
	err = b.format.walk(in, func(v variable, _ io.Reader) error {
		if _, twice := vars[v.name]; twice || len(vars) == maxVariables {
			return fmt.Errorf("%s is there twice, or one of more than %d", v.name, maxVariables)
		}
		vars[v.name] = v
		return nil
	})
	if err != nil {
		return Header{}, nil, fmt.Errorf("%s: %w", b.weights.name, err)
	}
	h := Header{Source: Source{Container: b.format.name(), From: b.from, File: filepath.Base(b.weights.name)}}
	words, err := b.format.describe(&h, vars, b)
	if err != nil {
		return Header{}, nil, err
	}
	if h.Tensors, err = b.tensors(vars); err != nil {
		return Header{}, nil, fmt.Errorf("%s: %w", b.weights.name, err)
	}
	if err := h.Dims.check(); err != nil {
		return Header{}, nil, fmt.Errorf("%s: %w", b.weights.name, err)
	}
	return h, words, nil
}

func (b *bundle) tensors(vars map[string]variable) ([]Tensor, error) {
	var all []Tensor
	for _, v := range vars {
		tensors, _, err := v.tensors(b.format.parts(v))
		if err != nil {
			return nil, err
		}
		for _, t := range tensors {
			if t.Name != "" {
				all = append(all, t)
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

// read hands the values of every tensor to put, in the type that inspect said and
// in the container's order, and returns the SHA-256 of the file of weights.
func (b *bundle) read(put func(name string, r io.Reader) error) (string, error) {
	sum := sha256.New()
	in, closer, err := b.openWeights(sum)
	if err != nil {
		return "", err
	}
	defer closer.Close()
	err = b.format.walk(in, func(v variable, data io.Reader) error {
		return b.putVariable(v, data, put)
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.weights.name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (b *bundle) putVariable(v variable, data io.Reader, put func(name string, r io.Reader) error) error {
	tensors, bytes, err := v.tensors(b.format.parts(v))
	if err != nil {
		return err
	}
	for i, t := range tensors {
		r := io.LimitReader(data, bytes[i])
		if v.stored == "bf16" {
			r = &bfloatReader{r: r}
		}
		if t.Name == "" {
			_, err = io.Copy(io.Discard, r)
		} else {
			err = put(t.Name, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openWeights opens the weights; what is read goes to sum too.
func (b *bundle) openWeights(sum io.Writer) (*stream, io.Closer, error) {
	f, size, err := b.weights.open()
	if err != nil {
		return nil, nil, err
	}
	in := &stream{r: f, size: size}
	if sum != nil {
		in.r = io.TeeReader(f, sum)
	}
	return in, f, nil
}

// readJSON decodes a describing file; one that is not there leaves v alone.
func (b *bundle) readJSON(name string, v any) error {
	data, err := b.file(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s of %s: %w", name, b.from, err)
	}
	return nil
}

// tokenizerWords reads tokenizer.json.
func (b *bundle) tokenizerWords() ([][]byte, error) {
	data, err := b.file("tokenizer.json")
	if err != nil {
		return nil, fmt.Errorf("the tokenizer of %s: %w", b.from, err)
	}
	words, err := token.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.from, err)
	}
	return words, nil
}
