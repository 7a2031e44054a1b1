package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// The voice activity network of Silero Team (MIT) is small and has one published
// form, so it stays the file that its package carries, known by its hash.
const (
	sileroFile   = "silero_vad_16k.safetensors"
	sileroEntry  = "silero_vad/data/" + sileroFile
	sileroSHA256 = "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1"
	sileroBytes  = 2 << 20 // more than it has
)

var sileroPackage = pack{"silero-vad", "6.2.3", "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8"}

// PullSilero fetches the voice activity network through pip, unless it is there
// and undamaged.
func (s Store) PullSilero(ctx context.Context, progress func(Progress)) error {
	o := ImportOptions{Progress: progress}
	unlock, err := s.lock(ctx, progress)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := s.sileroData(); err == nil {
		return nil
	}
	dir := s.pullDir("silero")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pull silero: %w", err)
	}
	defer os.RemoveAll(dir)
	o.report(Progress{Step: StepPackages, File: sileroPackage.name + "==" + sileroPackage.version})
	wheel, err := sileroPackage.download(ctx, dir)
	if err != nil {
		return fmt.Errorf("pull silero: %w", err)
	}
	return s.importSilero(wheel)
}

// importSilero takes the network out of its wheel.
func (s Store) importSilero(wheel string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("import %s: %w", wheel, err)
	}
	defer z.Close()
	entry, err := z.Open(sileroEntry)
	if err != nil {
		return fmt.Errorf("import %s: %w", wheel, err)
	}
	defer entry.Close()
	data, err := io.ReadAll(io.LimitReader(entry, sileroBytes))
	if err == nil {
		err = checkSilero(data)
	}
	if err != nil {
		return fmt.Errorf("import %s: %s: %w", wheel, sileroEntry, err)
	}
	return s.replace(func(f *os.File) (string, error) {
		_, err := f.Write(data)
		return filepath.Join(s.Dir, sileroFile), err
	})
}

func checkSilero(data []byte) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sileroSHA256 {
		return fmt.Errorf("damaged: sha256 %x, want %s", sum, sileroSHA256)
	}
	return nil
}

// sileroData is the content of the file, checked.
func (s Store) sileroData() ([]byte, error) {
	path := filepath.Join(s.Dir, sileroFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, sileroBytes))
	if err == nil {
		err = checkSilero(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// Silero returns the tensors of the voice activity network: their float32 values by
// name and shape. The error wraps fs.ErrNotExist where it was not fetched.
func (s Store) Silero() (tensors func(name string, shape ...int) ([]float32, error), err error) {
	data, err := s.sileroData()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the speech detector is not there; fetch it: earshot model pull silero: %w", err)
	}
	if err != nil {
		return nil, err
	}
	all, err := smallTensors(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(s.Dir, sileroFile), err)
	}
	return func(name string, shape ...int) ([]float32, error) {
		t, ok := all[name]
		if !ok || !slices.Equal(t.shape, shape) {
			return nil, fmt.Errorf("no tensor %s of shape %v", name, shape)
		}
		return t.values, nil
	}, nil
}

type smallTensor struct {
	shape  []int
	values []float32
}

// smallTensors reads a safetensors file of float32 values that is in memory.
func smallTensors(data []byte) (map[string]smallTensor, error) {
	all := map[string]smallTensor{}
	in := &stream{r: bytes.NewReader(data), size: int64(len(data))}
	err := safetensors{}.walk(in, func(v variable, r io.Reader) error {
		if v.stored != "f32" {
			return fmt.Errorf("%s holds %s values", v.name, v.stored)
		}
		values := make([]float32, v.bytes/4)
		if err := binary.Read(r, binary.LittleEndian, values); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		all[v.name] = smallTensor{v.shape, values}
		return nil
	})
	return all, err
}
