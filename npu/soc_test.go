package npu

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDetect reads made-up device trees. Properties are lists of strings that end with zeros.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name string
		tree map[string]string
		want SoC
	}{
		{"genio 700", map[string]string{
			"compatible":                      "mediatek,mt8390-evk\x00mediatek,mt8390\x00mediatek,mt8188\x00",
			"soc/apusys@190f0000/compatible":  "mediatek,mt8188-apusys_rv\x00",
			"soc/serial@11001100/compatible":  "mediatek,mt8188-uart\x00mediatek,mt6577-uart\x00",
			"soc/serial@11001100/clock-names": "baud\x00bus\x00",
		}, SoC{"MT8390", "genio-700", true}},
		{"genio 510", map[string]string{
			"compatible":            "mediatek,mt8370-evk\x00mediatek,mt8370\x00mediatek,mt8188\x00",
			"soc/apusys/compatible": "mediatek,mt8188-apusys-rv\x00", // as in the upstream kernel
		}, SoC{"MT8370", "genio-510", true}},
		{"genio 1200", map[string]string{
			"compatible":            "mediatek,mt8395-evk\x00mediatek,mt8395\x00mediatek,mt8195\x00",
			"soc/apusys/compatible": "mediatek,mt8195-apusys_rv\x00",
		}, SoC{"MT8395", "genio-1200", true}},
		{"genio 720", map[string]string{
			"compatible":            "mediatek,mt8391-evk\x00mediatek,mt8391\x00mediatek,mt8189\x00",
			"soc/apusys/compatible": "mediatek,mt8189-apusys_rv\x00",
		}, SoC{"MT8391", "genio-720", true}},
		{"genio 350, without an APU", map[string]string{
			"compatible": "mediatek,mt8365-evk\x00mediatek,mt8365\x00",
		}, SoC{"MT8365", "genio-350", false}},
		{"another maker's board, told by the firmware", map[string]string{
			"compatible":               "maker,board\x00mediatek,mt8188\x00",
			"soc/apusys/compatible":    "mediatek,mt8188-apusys_rv\x00",
			"soc/apusys/firmware-name": "mediatek/mt8390/apusys.sig.img\x00",
		}, SoC{"MT8390", "genio-700", true}},
		{"another maker's board, nothing tells the die's boards apart", map[string]string{
			"compatible":            "maker,board\x00",
			"soc/apusys/compatible": "mediatek,mt8189-apusys_rv\x00",
		}, SoC{"MT8371", "genio-520", true}},
		{"another chip", map[string]string{"compatible": "raspberrypi,5-model-b\x00brcm,bcm2712\x00"}, SoC{}},
		{"empty", map[string]string{"compatible": ""}, SoC{}},
		{"none", nil, SoC{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range c.tree {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.tree == nil {
				dir = filepath.Join(dir, "none")
			}
			link := filepath.Join(t.TempDir(), "device-tree") // as /proc has it
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			if got := detect(link + "/"); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
