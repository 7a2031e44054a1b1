package whisper

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestWindowLengths(t *testing.T) {
	e := newStub(t, nil)
	for _, c := range []struct {
		name    string
		samples int
		opts    Options
		want    []int
	}{
		{"nothing", 0, Options{}, []int{112, 256, 1500}},
		{"a sample", 1, Options{}, []int{112, 272, 1500}},
		{"a position more than fits", 12*320 + 1, Options{}, []int{128, 272, 1500}},
		{"10 s", 10 * SampleRate, Options{Words: true, Beam: 5}, []int{608, 768, 1500}},
		{"room for one only", 25 * SampleRate, Options{}, []int{1360, 1500}},
		{"1499 positions asked for", (1499 - 100) * 320, Options{}, []int{1500}},
		{"30 s", 30 * SampleRate, Options{}, []int{1500}},
		{"a draft", SampleRate, Options{Draft: true}, []int{160}},
		{"a draft in the full window", SampleRate, Options{Draft: true, FullWindow: true}, []int{1500}},
		{"full", SampleRate, Options{FullWindow: true}, []int{1500}},
		{"timestamps", SampleRate, Options{Timestamps: true}, []int{1500}},
		{"without guards", SampleRate, Options{NoGuards: true}, []int{1500}},
	} {
		if got := e.windows(c.samples, c.opts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	e.Dims.AudioCtx = 75 // a model with short windows of its own
	if got := e.windows(SampleRate, Options{}); !slices.Equal(got, []int{75}) {
		t.Errorf("small model: %v", got)
	}
}

// windowed has some windows ready.
type windowed struct {
	Encoder
	windows []int
}

func (w windowed) Windows() []int { return w.windows }

// TestReadyWindows asks for those that an encoder has ready, alone and in a batch.
func TestReadyWindows(t *testing.T) {
	e := newStub(t, nil)
	e.Encoder = windowed{e.Encoder, []int{100, 150, 250, 500, 600}}
	for samples, want := range map[int][]int{
		0:               {150, 500, 1500}, // 112 and 256
		2 * SampleRate:  {250, 500, 1500}, // 208 and 368
		4 * SampleRate:  {500, 1500},      // 304 and 464
		9 * SampleRate:  {600, 720, 1500}, // 560, and 720, for which none is ready
		10 * SampleRate: {608, 768, 1500},
	} {
		if got := e.windows(samples, Options{}); !slices.Equal(got, want) {
			t.Errorf("%d samples: %v, want %v", samples, got, want)
		}
		seat := NewBatch(e, 3000).engine.seat(nil, 0, 0)
		if got := seat.windows(samples, Options{}); !slices.Equal(got, want) {
			t.Errorf("%d samples in a batch: %v, want %v", samples, got, want)
		}
	}
	if got := e.windows(0, Options{FullWindow: true}); !slices.Equal(got, []int{1500}) {
		t.Errorf("full: %v", got)
	}
}

// TestShortWindows scripts what a decoder says in window after window.
func TestShortWindows(t *testing.T) {
	const voiced = 5.0 // s: windows of 352, 512 and 1500 positions, and up to 84 tokens
	const text = "and so my fellow americans"
	const twice = text + " " + text + " "
	endless := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöüßáàéèíìóòúùñçøåæœ"
	for _, c := range []struct {
		name  string
		said  []said // in each window; the last one also in those behind
		opts  Options
		want  string
		asked []int
	}{
		{"OK", []said{{text: text}}, Options{}, text, []int{352}},
		{"said again", []said{{text: twice + twice}, {text: text}}, Options{}, text, []int{352, 512}},
		{"said again in both", []said{{text: twice}, {text: twice}, {text: text}}, Options{}, text, []int{352, 512, 1500}},
		{"a chorus", []said{{text: twice}}, Options{}, strings.TrimSpace(twice), []int{352, 512, 1500}},
		{"no, no, no", []said{{text: "no, no, no"}}, Options{}, "no, no, no", []int{352, 512, 1500}},
		{"very very good", []said{{tokens: tokens("A", "B", "B", "C")}}, Options{}, "ABBC", []int{352}},
		{"two words twice", []said{{tokens: tokens("A", "BC", "BC", "D")}}, Options{}, "ABCBCD", []int{352}},
		{"three words twice", []said{{tokens: tokens("ABC", "ABC")}, {tokens: tokens("ABC", "D")}}, Options{}, "ABCD", []int{352, 512}},
		{"without end", []said{{text: endless + endless}, {text: text}}, Options{}, text, []int{352, 512}},
		{"a guess", []said{{text: "hm", logProb: -0.8}, {text: text}}, Options{}, text, []int{352, 512}},
		{"not quite a guess", []said{{text: "hm", logProb: -0.7}, {text: text}}, Options{}, "hm", []int{352}},
		{"a guess in every window", []said{{text: "a", logProb: -0.8}, {text: "b", logProb: -0.76}, {text: "c", logProb: -0.9}}, Options{}, "c", []int{352, 512, 1500}},
		{"the same guess twice", []said{{text: "a", logProb: -1.1}, {text: "a", logProb: -0.8}, {text: "c"}}, Options{}, "a", []int{352, 512}},
		{"the same bad guess twice", []said{{text: "a", logProb: -1.1}, {text: "a", logProb: -1.2}, {text: "c"}}, Options{}, "c", []int{352, 512, 1500}},
		// The last is no better than the usual thresholds want, so the likeliest counts.
		{"nothing good", []said{{text: "a", logProb: -1.3}, {text: "b", logProb: -1.1}, {text: "c", logProb: -1.2}}, Options{Temperatures: []float64{0}}, "b", []int{352, 512, 1500}},
		{"a loop everywhere", []said{{text: twice}, {text: twice}, {text: strings.Repeat(text+" ", 9)}}, Options{Temperatures: []float64{0}}, text, []int{352, 512, 1500}},
		{"a beam", []said{{text: twice}, {text: text}}, Options{Beam: 3}, text, []int{352, 512}},
		{"a draft", []said{{text: "hm", logProb: -0.9}}, Options{Draft: true}, "hm", []int{352}},
		{"full", []said{{text: twice}}, Options{FullWindow: true}, strings.TrimSpace(twice), []int{1500}},
		{"without guards", []said{{text: twice}}, Options{NoGuards: true}, strings.TrimSpace(twice), []int{1500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.said {
				if c.said[i].logProb == 0 {
					c.said[i].logProb = -0.2
				}
			}
			e := newStub(t, func(window int, _ string) said { return c.said[min(window, len(c.said)-1)] })
			s := e.Encoder.(*stub)
			s.short = true
			c.opts.Language = "en"
			r, err := e.Transcribe(context.Background(), voice(voiced), c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != c.want || !slices.Equal(s.asked, c.asked) {
				t.Errorf("got %q in windows %v, want %q in %v", r.Text, s.asked, c.want, c.asked)
			}
		})
	}
}

// tokens makes a token of every letter.
func tokens(words ...string) []int {
	var all []int
	for _, b := range []byte(strings.Join(words, "")) {
		all = append(all, int(b))
	}
	return all
}

// TestGuardFiresAtOnce sees where a text in a short window ends.
func TestGuardFiresAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		steps int // tokens decoded
		stop  Stop
		want  string
	}{
		{"a phrase of three", "xyzabcabcabc", 9, Looped, "xyzabc"},
		{"a long phrase", strings.Repeat("the quick brown fox, ", 4), 42, Looped, "the quick brown fox, "},
		{"phrases of two", "xababyzz", 8, EndOfText, "xababyzz"},
		{"a phrase that comes back", "abcdeabcde", 10, Looped, "abcde"},
		{"a phrase that comes back in capitals", "xyz abc ABC", 11, Looped, "xyz abc"},
		{"bytes that are no letters", "\xe4\xe4\xe4\xe5\xe5\xe5", 6, EndOfText, ""},
		{"a phrase that comes back later", "abcde, abcde", 12, EndOfText, "abcde, abcde"},
	} {
		steps := 0
		e := newStub(t, func(int, string) said { return said{text: c.text, logProb: -0.2} })
		e.Encoder.(*stub).short = true
		w := window{engine: e, samples: voice(5), opts: Options{Language: "en", Partial: func(string) { steps++ }}}
		var err error
		if w.encoded, err = e.Encode(context.Background(), w.samples, w.opts); err != nil {
			t.Fatal(err)
		}
		r, err := w.listen(context.Background(), []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		if c.stop == EndOfText {
			steps--
		}
		if got := e.Tokenizer.Decode(r.Tokens); got != c.want || r.Stop != c.stop || steps != c.steps {
			t.Errorf("%s: %q, stopped by %s after %d tokens; want %q, %s, %d", c.name, got, r.Stop, steps, c.want, c.stop, c.steps)
		}
		if math.Abs(r.LogProb+0.2) > 0.1 {
			t.Errorf("%s: log-probability %.2f", c.name, r.LogProb)
		}
	}
}
