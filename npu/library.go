//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"earshot/npu/neuron"
)

// LibraryVariable is the environment variable that names the library.
const LibraryVariable = "EARSHOT_NEURON_LIBRARY"

const adapterName = "libneuronusdk_adapter.mtk.so"

// libraryFolders are where a name with a version is looked for; one without is left to
// the loader.
var libraryFolders = []string{"/usr/lib", "/usr/lib64", "/usr/lib/aarch64-linux-gnu", "/lib", "/vendor/lib64", "/usr/local/lib"}

// load opens the library: the named one, else the first of the system's that loads.
func load(library string) (*neuron.Library, string, error) {
	if library == "" {
		library = os.Getenv(LibraryVariable)
	}
	if library != "" {
		lib, err := neuron.Open(library)
		return lib, library, err
	}
	var reasons []string
	for _, name := range candidates(append(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), libraryFolders...)) {
		lib, err := neuron.Open(name)
		if err == nil {
			return lib, name, nil
		}
		reasons = append(reasons, err.Error())
	}
	return nil, "", fmt.Errorf("%w (%s)", ErrAbsent, strings.Join(reasons, "; "))
}

// candidates are the system's libraries in the order in which they are tried.
func candidates(folders []string) []string {
	names := []string{adapterName}
	names = append(names, versioned(folders)...)
	return append(names, "libneuron_adapter_mgvi.so", "libneuron_adapter.so")
}

// versioned are the files of the Adapter whose names end with a version, newest first.
func versioned(folders []string) []string {
	var files []string
	for _, dir := range folders {
		found, _ := filepath.Glob(filepath.Join(dir, adapterName+".*")) // fails only for a bad pattern
		files = append(files, found...)
	}
	slices.SortStableFunc(files, func(a, b string) int { return -slices.Compare(fileVersion(a), fileVersion(b)) })
	return slices.Compact(files)
}

// fileVersion is [6 3 3] for ….so.6.3.3.
func fileVersion(path string) []int {
	_, suffix, _ := strings.Cut(filepath.Base(path), adapterName+".")
	var v []int
	for part := range strings.SplitSeq(suffix, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return v
		}
		v = append(v, n)
	}
	return v
}
