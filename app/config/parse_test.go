package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"earshot/app/config"
)

// TestForms are ways to write the same.
func TestForms(t *testing.T) {
	want := config.Default()
	want.Model = "base"
	want.Language = "no"
	want.Audio.Gain = "off"
	want.Live.WhenSlow = []string{"later", "drop-partials"}
	for _, c := range []struct{ name, text string }{
		{"OK", "model: base\nlanguage: no\naudio:\n  gain: off\nlive:\n  when-slow: [later, drop-partials]\n"},
		{"quoted", "model: 'base'\n\"language\": \"no\"\naudio:\n  gain: \"off\"\nlive:\n  when-slow: ['later', \"drop-partials\"]\n"},
		{"flow", "{model: base, language: no, audio: {gain: off}, live: {when-slow: [later, drop-partials]}}"},
		{"block list", "model: base\nlanguage: no\naudio:\n    gain: off\nlive:\n when-slow:\n   - later\n   - drop-partials\n"},
		{"list in one text", "model: base\nlanguage: no\naudio: {gain: off}\nlive: {when-slow: 'later, drop-partials'}"},
		{"Windows", "\ufeffmodel: base\r\nlanguage: no\r\naudio:\r\n  gain: off\r\nlive:\r\n  when-slow: [later, drop-partials]\r\n"},
		{"start of a document", "---\nmodel: base\nlanguage: no\naudio: {gain: off}\nlive: {when-slow: [later, drop-partials]}\n...\n"},
		{"comments", "# a\n\nmodel: base # b\n# c\nlanguage: no\naudio: # d\n  # e\n  gain: off\nstore:\n  # keep-text: 1d\nserver:\nlive:\n  when-slow: # f\n    - later # g\n    # h\n    - drop-partials\n# i"},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, load(t, c.text).Config, want) })
	}
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "~", "audio:\n"} {
		same(t, load(t, text).Config, config.Default())
	}
}

// TestProblems wants everything that is wrong, with the line, the key, the value and
// what is allowed.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // behind "FILE"
	}{
		{"wrong type", "threads: many", []string{`:1: threads "many": a whole number, 0 to 256`}},
		{"out of range", "\n\nendpointing:\n  threshold: 1.5\n", []string{`:4: endpointing.threshold "1.5": 0.05 to 0.95`}},
		{"below", "store:\n  min-free: 12B\n", []string{`:2: store.min-free "12B": 1MB to 1TB`}},
		{"no unit", "endpointing: {pre-roll: 300}", []string{`:1: endpointing.pre-roll "300": a duration such as 300ms, 15s or 30d, 0s to 2s`}},
		{"negative", "endpointing: {pre-roll: -1s}", []string{`:1: endpointing.pre-roll "-1s": a duration such as 300ms, 15s or 30d, 0s to 2s`}},
		{"not a number", "endpointing: {threshold: .nan}", []string{`:1: endpointing.threshold ".nan": a number such as 0.5, 0.05 to 0.95`}},
		{"none of these", "log-level: loud", []string{`:1: log-level "loud": debug, info, warn or error`}},
		{"not true or false", "live: {partials: yes}", []string{`:1: live.partials "yes": true or false`}},
		{"item", "live: {when-slow: [later, give-up]}", []string{`:1: live.when-slow "later,give-up": a list of any of drop-partials, smaller-model, later, each once; or []`}},
		{"item twice", "live: {when-slow: [later, later]}", []string{`:1: live.when-slow "later,later": a list of any of drop-partials, smaller-model, later, each once; or []`}},
		{"age", "store: {keep-audio: 2 weeks}", []string{`:1: store.keep-audio "2 weeks": never, forever, or an age such as 12h or 30d, at least 1m`}},
		{"age too small", "store: {keep-audio: 30s}", []string{`:1: store.keep-audio "30s": never, forever, or an age such as 12h or 30d, at least 1m`}},
		{"model", "model: ../base", []string{`:1: model "../base": the name of a model: lower-case letters, digits, . _ -`}},
		{"address", "server: {listen: 8080}", []string{`:1: server.listen "8080": ADDRESS:PORT, or off`}},
		{"channel", "audio: {channel: left}", []string{`:1: audio.channel "left": mix, or 1 to 32`}},
		{"no such channel", "audio: {channel: 0}", []string{`:1: audio.channel "0": mix, or 1 to 32`}},
		{"port", "server: {listen: 'localhost:http'}", []string{`:1: server.listen "localhost:http": ADDRESS:PORT, or off`}},
		{"two lines", "prompt: |\n  a\n  b\n", []string{`:1: prompt "a\nb": a text in one line, at most 4096 bytes`}},
		{"together", "endpointing:\n  threshold: 0.3\n", []string{`:2: endpointing.end-threshold "0.35": at most threshold, which is 0.3`}},
		{"together, the other", "endpointing:\n  threshold: 0.3\n  end-threshold: 0.4\n", []string{`:3: endpointing.end-threshold "0.4": at most threshold, which is 0.3`}},

		{"unknown", "modle: base", []string{`:1: unknown key "modle"; the nearest is "model"`}},
		{"unknown in a section", "audio:\n  gian: on\n", []string{`:2: unknown key "gian" in audio; the nearest is "gain"`}},
		{"unknown section", "endpoint:\n  what: ever\n", []string{`:1: unknown key "endpoint"; the nearest is "endpointing"`}},
		{"in the wrong place", "tresholt: 0.4", []string{`:1: unknown key "tresholt"; the nearest is "threshold" in endpointing`}},
		{"in the wrong section", "audio: {listen: off}", []string{`:1: unknown key "listen" in audio; the nearest is "listen" in server`}},
		{"outside", "audio:\n model: base\n", []string{`:2: unknown key "model" in audio; the nearest is "model" outside of all sections`}},
		{"with a dot", "audio.gain: on", []string{`:1: unknown key "audio.gain"; the nearest is "gain" in audio`}},
		{"upper case", "Model: base", []string{`:1: unknown key "Model"; the nearest is "model"`}},

		{"twice", "model: base\nlanguage: de\nmodel: base\n", []string{`:3: model stands in line 1 already`}},
		{"section twice", "audio: {gain: on}\naudio: {gain: off}\n", []string{`:2: audio stands in line 1 already`}},
		{"no value", "model:\n", []string{`:1: model has no value, or more than one; want the name of a model: lower-case letters, digits, . _ -`}},
		{"several values", "model: [a, b]\n", []string{`:1: model has no value, or more than one; want the name of a model: lower-case letters, digits, . _ -`}},
		{"list in a list", "live: {when-slow: [[later]]}\n", []string{`:1: live.when-slow has no value, or more than one; want a list of any of drop-partials, smaller-model, later, each once; or []`}},
		{"not a section", "audio: loud\n", []string{`:1: audio is a section: want lines below it, indented, as in gain: auto`}},
		{"a list of all", "- model: base\n", []string{`:1: want keys with values, as in model: tiny.en`}},
		{"a word", "base\n", []string{`:1: want keys with values, as in model: tiny.en`}},
		{"anchor", "model: &m base\n", []string{`:1: model has no value, or more than one; want the name of a model: lower-case letters, digits, . _ -`}},
		{"tag", "model: !!str base\n", []string{`:1: model has no value, or more than one; want the name of a model: lower-case letters, digits, . _ -`}},
		{"merge", "audio: {<<: {gain: on}}\n", []string{`:1: want a plain key`}},
		{"two documents", "model: base\n---\nmodel: tiny\n", []string{`: more than one document; "---" may stand at the start only`}},
		{"two, one of them empty", "{}\n---\n", []string{`: more than one document; "---" may stand at the start only`}},
		{"zeros", "model: base\n\x00\x00", []string{`: it has zero bytes in it: damaged, or no text`}},

		{"Windows", "# a\r\n\r\naudio:\r\n  # b\r\n  gian: on\r\n", []string{`:5: unknown key "gian" in audio; the nearest is "gain"`}},
		{"behind many lines", "prompt: >\n  a\n  b\n\nhotwords: \"a\n  b\"\nmodle: base\n", []string{`:7: unknown key "modle"; the nearest is "model"`}},

		{"all of them", "modle: base\nthreads: -1\naudio:\n  gain: 11\n  gian: on\nlog-level: debug\nendpointing:\n  longest: 1m\n", []string{
			`:1: unknown key "modle"; the nearest is "model"`,
			`:2: threads "-1": 0 to 256`,
			`:4: audio.gain "11": auto, on or off`,
			`:5: unknown key "gian" in audio; the nearest is "gain"`,
			`:8: endpointing.longest "1m": 2s to 29s`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := config.Load(config.Sources{Path: path})
			var problems config.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want Problems", err)
			}
			var got []string
			for _, p := range problems {
				got = append(got, strings.TrimPrefix(p.Error(), path))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestNotYAML has only the line to rely on: the words are the parser's.
func TestNotYAML(t *testing.T) {
	for _, c := range []struct{ name, text, at string }{
		{"tab", "audio:\n\tgain: on\n", ":2: not YAML: "},
		{"open", "model: base\nlive: {when-slow: [later\n", ":2: not YAML: "},
		{"indentation", "model: base\n  language: de\n", ":1: not YAML: "},
		{"quotation mark", "model: \"base\nlanguage: de\n", ":1: not YAML: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := config.Load(config.Sources{Path: path})
			if !errors.As(err, new(config.Problems)) || !strings.HasPrefix(err.Error(), path+c.at) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent.yaml")
	if _, err := config.Load(config.Sources{Path: absent}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), absent) {
		t.Errorf("absent: %v", err)
	}
	big := write(t, strings.Repeat("# nothing\n", 7_000))
	if _, err := config.Load(config.Sources{Path: big}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("70,000 bytes: %v", err)
	}
	if _, err := config.Load(config.Sources{Path: t.TempDir()}); err == nil {
		t.Error("a folder was read")
	}
	if _, err := os.Stat(config.DefaultPath); err == nil {
		return // this machine has a configuration of its own
	}
	l, err := config.Load(config.Sources{})
	if err != nil || l.Path != "" {
		t.Fatalf("no file: %v, path %q", err, l.Path)
	}
	same(t, l.Config, config.Default())
}
