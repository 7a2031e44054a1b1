package npu

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SoC is the board's chip.
type SoC struct {
	Name  string // as in "MT8390"; "" if it isn't one that is known
	Board string // as in "genio-700": the name of its profile
	NPU   bool   // the device tree has an APU
}

// chips by what a device tree calls them. The last three names are of dies, which boards
// share: they mean the smaller board where nothing else tells.
var chips = []struct{ id, name, board string }{
	{"mt8365", "MT8365", "genio-350"},
	{"mt8370", "MT8370", "genio-510"},
	{"mt8390", "MT8390", "genio-700"},
	{"mt8395", "MT8395", "genio-1200"},
	{"mt8371", "MT8371", "genio-520"},
	{"mt8391", "MT8391", "genio-720"},
	{"mt8195", "MT8395", "genio-1200"},
	{"mt8188", "MT8370", "genio-510"},
	{"mt8189", "MT8371", "genio-520"},
}

// deviceTree ends with a slash, since it is a link.
const deviceTree = "/proc/device-tree/"

// Here is the chip that this program runs on; zero where that is no board that is known.
func Here() SoC { return detect(deviceTree) }

// detect finds the chip in a device tree, by the names of the board, of the APU's firmware
// and of the APU (facts/npu.md 8; not confirmed on a board).
func detect(tree string) SoC {
	board := property(tree, "compatible")
	apu := apuNode(tree)
	names := slices.Concat(board, property(apu, "firmware-name"), property(apu, "compatible"))
	for _, c := range chips {
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, c.id) }) {
			return SoC{c.name, c.board, apu != ""}
		}
	}
	return SoC{NPU: apu != ""}
}

// apuNode is the folder of the APU in the tree, "" if there is none. The upstream kernel
// spells its name with another hyphen.
func apuNode(tree string) (node string) {
	_ = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "compatible" {
			return nil // what can't be read is not it
		}
		for _, name := range property(filepath.Dir(path), "compatible") {
			if strings.HasSuffix(strings.ReplaceAll(name, "-rv", "_rv"), "-apusys_rv") {
				node = filepath.Dir(path)
				return fs.SkipAll
			}
		}
		return nil
	})
	return node
}

// property is a list of strings, which end with zeros.
func property(node, name string) []string {
	if node == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(node, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
}
