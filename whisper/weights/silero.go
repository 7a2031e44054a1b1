package weights

import (
	"archive/zip"
	"context"
	"crypto/sha256"
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
// form, so it stays the file that its package carries, known by its hash. The
// package also holds silero_vad_16k.safetensors, which is another training run: its
// probabilities differ from those of the package by up to 0.36 (2026-11-30).
const (
	sileroFile   = "silero_vad_16k_op15.onnx"
	sileroEntry  = "silero_vad/data/" + sileroFile
	sileroSHA256 = "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"
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
	all := onnxTensors(data)
	return func(name string, shape ...int) ([]float32, error) {
		t, ok := all[sileroNames[name]]
		if !ok || !slices.Equal(t.shape, shape) {
			return nil, fmt.Errorf("%s: no tensor %s of shape %v", sileroFile, name, shape)
		}
		return t.values, nil
	}, nil
}

// sileroNames are the file's names for the parts of the network as the package's
// own description names them (silero_vad/tinygrad_model.py).
var sileroNames = map[string]string{
	"stft_conv.weight":    "model.stft.forward_basis_buffer",
	"conv1.weight":        "model.encoder.0.reparam_conv.weight",
	"conv1.bias":          "model.encoder.0.reparam_conv.bias",
	"conv2.weight":        "model.encoder.1.reparam_conv.weight",
	"conv2.bias":          "model.encoder.1.reparam_conv.bias",
	"conv3.weight":        "model.encoder.2.reparam_conv.weight",
	"conv3.bias":          "model.encoder.2.reparam_conv.bias",
	"conv4.weight":        "model.encoder.3.reparam_conv.weight",
	"conv4.bias":          "model.encoder.3.reparam_conv.bias",
	"lstm_cell.weight_ih": "model.decoder.rnn.weight_ih",
	"lstm_cell.weight_hh": "model.decoder.rnn.weight_hh",
	"lstm_cell.bias_ih":   "model.decoder.rnn.bias_ih",
	"lstm_cell.bias_hh":   "model.decoder.rnn.bias_hh",
	"final_conv.weight":   "model.decoder.decoder.2.weight",
	"final_conv.bias":     "model.decoder.decoder.2.bias",
}
