package export

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// brief is a segment as "start-end text" in milliseconds.
func brief(segments []Segment) []string {
	var out []string
	for _, s := range segments {
		out = append(out, fmt.Sprintf("%d-%d %s", millis(s.Start), millis(s.End), labelled(s.Speaker, s.Text)))
	}
	return out
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		in     string
		want   []string
	}{
		{"srt", SRT, "1\n00:00:01,000 --> 00:00:02,000\none\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nthree\n\n", []string{"1000-2000 one two", "3000-4000 three"}},
		{"srt, no numbers, no end", SRT, "00:01,000 --> 00:02,000\none\n\n00:00:03.5 --> 00:00:04", []string{"1000-2000 one"}},
		{"srt, no blank lines", SRT, "1\n00:01,000 --> 00:02,000\none\n2\n00:03,000 --> 00:04,000\ntwo", []string{"1000-2000 one", "3000-4000 two"}},
		{"srt, blank line in a text", SRT, "1\n00:01,000 --> 00:02,000\none\n\ntwo\n\n3\n\n2\n00:03,000 --> 00:04,000\nfour", []string{"1000-2000 one two 3", "3000-4000 four"}},
		{"srt, many blank lines", SRT, "\n \n1\n00:01,000 --> 00:02,000\none\n\n\n\n2\n00:03,000 --> 00:04,000\ntwo\n\n\n", []string{"1000-2000 one", "3000-4000 two"}},
		{"srt, digits are text", SRT, "1\n00:01,000 --> 00:02,000\n42\n\n2\n00:03,000 --> 00:04,000\n1\n2\n", []string{"1000-2000 42", "3000-4000 1 2"}},
		{"srt, arrows are text", SRT, "1\n00:01,000 --> 00:02,000\n00:00:05,000 --> 00:00:06,000\nb --> c\n", []string{"1000-2000 00:00:05,000 --> 00:00:06,000 b --> c"}},
		{"srt, markup", SRT, "1\n00:01,000 --> 00:02,000 X1:1 X2:2\n{\\an8}<i>one</i> <font color=\"#fff\">t<B>w</B>o</font> <c> a<b\n", []string{"1000-2000 one two <c> a<b"}},
		{"srt, empty", SRT, "", nil},
		{"srt, cue without text", SRT, "1\n00:01,000 --> 00:02,000\n\n2\n00:03,000 --> 00:04,000\ntwo", []string{"3000-4000 two"}},
		{"vtt", VTT, "WEBVTT\n\n00:01.500 --> 00:02.000\none &amp; &lt;two&gt;\n", []string{"1500-2000 one & <two>"}},
		{"vtt, no head", VTT, "00:01.500 --> 00:02.000\none", []string{"1500-2000 one"}},
		{"vtt, head and blocks", VTT, "WEBVTT - a title\nKind: captions\nLanguage: en\n\nNOTE one\ntwo\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:x\n\n" +
			"intro\n100:00:01.000 --> 100:00:02.000 align:start position:0%\none\n\nNOTE\n\n2\n100:00:03.000 --> 100:00:04.000\nNOTE two",
			[]string{"360001000-360002000 one", "360003000-360004000 NOTE two"}},
		{"vtt, tags", VTT, "WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Ann &amp; Bob>a <00:01.500><c.x>b</c></v> &lt;i&gt; 1 < 2 &nbsp;c\n", []string{"1000-2000 Ann & Bob: a b <i> 1 < 2 \u00a0c"}},
		{"vtt, no blank lines", VTT, "WEBVTT\n00:01.000 --> 00:02.000\none\n00:03.000 --> 00:04.000\ntwo", []string{"1000-2000 one", "3000-4000 two"}},
		{"vtt, no number", VTT, "WEBVTT\n\n\t\n00:01.000-->00:02.000\none", []string{"1000-2000 one"}},
		{"vtt, lines of Japanese", VTT, "WEBVTT\n\n00:01.000 --> 00:02.000\n検査\nできます\n", []string{"1000-2000 検査できます"}},
		{"tsv", TSV, "start\tend\ttext\n1000\t2000\tone\n3000\t4000\ttwo\tthree", []string{"1000-2000 one", "3000-4000 two three"}},
		{"tsv, no header", TSV, "1000\t2000\tone\n\n", []string{"1000-2000 one"}},
		{"lrc", LRC, "[ar:x]\n[ti:y]\n[00:01.50]one\n[01:02.345] two\n[100:00]three\n[100:01:50]", []string{"1500-62345 one", "62345-6000000 two", "6000000-6001500 three"}},
		{"lrc, repeated, words, offset", LRC, "[offset:+500]\n[00:01.00][00:05.00]la <00:01.20>la\n[00:03.00]end\n", []string{"500-2500 la la", "2500-4500 end", "4500-4500 la la"}},
		{"json", JSON, `{"text":"one","x":[1,{"segments":[]}],"segments":[{"id":0,"seek":0,"start":1,"end":2.0004,"text":" one","tokens":[1,2]},{"start":3,"end":4,"text":""}]}`, []string{"1000-2000 one"}},
		{"json, text only", JSON, `{"duration": 2.5, "text": "one"}`, []string{"0-2500 one"}},
		{"json, null", JSON, `{"segments":null,"language":null}`, nil},
		{"jsonl", JSONL, "{\"start\":1,\"end\":2,\"text\":\"one\"}\n\n{\"start\":3,\"end\":4,\"text\":\"two\",\"speaker\":\"Ann\"}", []string{"1000-2000 one", "3000-4000 Ann: two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for change, in := range map[string]string{
				"as is":           c.in,
				"CR LF":           strings.ReplaceAll(c.in, "\n", "\r\n"),
				"CR":              strings.ReplaceAll(c.in, "\n", "\r"),
				"byte-order mark": "\ufeff" + c.in,
			} {
				got, err := Read(iotest.OneByteReader(strings.NewReader(in)), c.format)
				if err != nil || !reflect.DeepEqual(brief(got.Segments), c.want) {
					t.Errorf("%s: got %q, %v; want %q", change, brief(got.Segments), err, c.want)
				}
			}
		})
	}
}

func TestReadRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		in     string
		want   string
	}{
		{"srt, times", SRT, "1\n00:00:0x,000 --> 00:00:02,000\none", `read srt: line 2: times not understood: "00:00:0x,000 --> 00:00:02,000"; want 00:00:00,000 --> 00:00:00,000`},
		{"srt, text only", SRT, "\nhello\nworld", `read srt: line 2: no times in front of "hello"`},
		{"srt, one line", SRT, "hello", `read srt: line 1: no times in front of "hello"`},
		{"srt, one line, ended", SRT, "hello\n\n", `read srt: line 1: no times in front of "hello"`},
		{"srt, Latin-1", SRT, "1\n00:01,000 --> 00:02,000\ncaf\xe9", `read srt: line 3: not UTF-8`},
		{"srt, UTF-16", SRT, "\xff\xfe1\x00", `read srt: line 1: not UTF-8`},
		{"vtt, times", VTT, "WEBVTT\n\n00:01.000 --> 00:99.000\none", `read vtt: line 3: times not understood: "00:01.000 --> 00:99.000"; want 00:00:00.000 --> 00:00:00.000`},
		{"vtt, text only", VTT, "WEBVTT\n\nhello\n\nworld", `read vtt: line 3: no times in front of "hello"`},
		{"tsv, columns", TSV, "start\tend\ttext\n1000\t2000", `read tsv: line 2: want start, end and text with tabs between, found "1000\t2000"`},
		{"tsv, number", TSV, "1000\t2.5\tone", `read tsv: line 1: times not understood: "1000\t2.5\tone"; want two whole numbers of milliseconds`},
		{"lrc, no time", LRC, "[00:01.00]one\nhello", `read lrc: line 2: no time in front of "hello"; want [mm:ss.xx]`},
		{"lrc, time", LRC, "[00:61.00]one", `read lrc: line 1: time not understood: "[00:61.00]"`},
		{"lrc, offset", LRC, "[offset:x]", `read lrc: line 1: offset not understood: "x"; want a whole number of milliseconds`},
		{"json, empty", JSON, "", `read json: line 1: unexpected end of JSON input`},
		{"json, list", JSON, "[]", `read json: line 1: want a JSON object`},
		{"json, cut", JSON, "{\n\"segments\": [\n{\"start\": 1", `read json: line 3: unexpected end of JSON input`},
		{"json, syntax", JSON, "{\n\"segments\": [\n{\"start\": 1},\n{\"start\" 1}\n]}", `read json: line 4: invalid character '1' after object key`},
		{"json, two", JSON, "{}\n{}", `read json: line 2: invalid character '{' after top-level value`},
		{"json, type", JSON, "{\n\"segments\": [\n\n {\"start\":\n\"1\"}]}", `read json: line 5: start: unexpected string`},
		{"json, no list", JSON, "{\n\"segments\": 5}", `read json: line 2: want a list`},
		{"json, no object", JSON, "{\n\"segments\": [5]}", `read json: line 2: unexpected number`},
		{"json, field", JSON, "{\n\n\"duration\": \"x\"}", `read json: line 3: unexpected string`},
		{"jsonl", JSONL, "{\"text\":\"a\"}\n{", `read jsonl: line 2: unexpected end of JSON input`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.in), c.format)
			if _, ok := errors.AsType[*SyntaxError](err); !ok || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	for _, f := range []Format{TXT, MD, "x"} {
		if _, err := Read(strings.NewReader(""), f); err == nil || !strings.Contains(err.Error(), string(f)) {
			t.Errorf("%s: got %v", f, err)
		}
	}
	broken := errors.New("broken pipe")
	if _, err := Read(iotest.ErrReader(broken), SRT); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestReadLimits(t *testing.T) {
	most := limits{bytes: 10_000, segment: 1_000, items: 100}
	for _, c := range []struct {
		name   string
		format Format
		unit   string
		count  int
		want   string // "" is no error
	}{
		{"bytes", SRT, "\n", 10_000, ""},
		{"one byte more", SRT, "\n", 10_001, "read srt: more than 10000 bytes"},
		{"cues", VTT, "0:0-->0:0\nx\n", 100, ""},
		{"one cue more", VTT, "0:0-->0:0\nx\n", 101, "read vtt: line 201: more than 100 segments and words"},
		{"words", JSONL, `{"text":"x","words":[{},{},{},{}]}` + "\n", 20, ""},
		{"one segment with words more", JSONL, `{"text":"x","words":[{},{},{},{}]}` + "\n", 21, "read jsonl: line 21: more than 100 segments and words"},
		{"a segment", JSONL, " ", 1_000, ""},
		{"a segment too long", JSONL, "[[[", 400, "read jsonl: line 1: a segment of more than 1000 bytes"},
		{"lyrics", LRC, "[0:00]\n", 101, "read lrc: line 101: more than 100 lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(strings.NewReader(strings.Repeat(c.unit, c.count)), c.format, most)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := read(iotest.ErrReader(io.ErrUnexpectedEOF), SRT, most); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// Case C46, and everything else that Read promises.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 0))
	lists := 200
	if testing.Short() {
		lists = 20
	}
	for _, f := range []Format{SRT, VTT, JSON, JSONL, TSV, LRC} {
		t.Run(string(f), func(t *testing.T) {
			for range lists {
				in := Transcript{Segments: orderedSegments(r, 30)}
				text := render(t, f, in, Options{Lines: -1})
				for _, text := range []string{text, strings.TrimSuffix(text, "\n"), strings.TrimRight(text, "\n"), strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + text} {
					got, err := Read(strings.NewReader(text), f)
					if err != nil {
						t.Fatalf("%v in\n%s", err, text)
					}
					if got, want := withoutLastMS(f, got.Segments), withoutLastMS(f, in.Segments); !reflect.DeepEqual(got, want) {
						t.Fatalf("got  %q\nwant %q from\n%s", got, want, text)
					}
				}
			}
		})
	}
}

// withoutLastMS is brief with times as exact as the format.
func withoutLastMS(f Format, segments []Segment) []string {
	out := brief(segments)
	for i, s := range segments {
		if f == LRC {
			out[i] = fmt.Sprintf("%d-%d %s", millis(s.Start)/10, millis(s.End)/10, s.Text)
		}
	}
	return out
}

// With cues of two lines a segment may come back as several. The text is the same, but
// for a space in Chinese where a cue ends.
func TestRoundTripCues(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 0))
	for _, f := range []Format{SRT, VTT} {
		for range 200 {
			in := Transcript{Segments: orderedSegments(r, 60)}
			text := render(t, f, in, Options{})
			got, err := Read(strings.NewReader(text), f)
			if err != nil || nonSpace([]string{got.Text()}) != nonSpace([]string{in.Text()}) {
				t.Fatalf("got  %q, %v\nwant %q from\n%s", got.Text(), err, in.Text(), text)
			}
		}
	}
}

func TestRoundTripJSON(t *testing.T) {
	in := example()
	in.Segments = Tidy(in.Segments, in.Duration, 0)
	in.Segments[0].Words[4].Probability = 0.125
	in.Segments[0].Start, in.Segments[0].Words[0].Start = 1, 1
	for i := range in.Segments {
		if len(in.Segments[i].Words) == 0 {
			in.Segments[i].Words = nil
		}
	}
	got, err := Read(strings.NewReader(render(t, JSON, in, Options{})), JSON)
	if err != nil || !got.Created.Equal(in.Created) {
		t.Fatalf("got %+v, %v", got, err)
	}
	got.Created = time.Time{}
	in.Created = time.Time{}
	if !reflect.DeepEqual(got, in) {
		t.Errorf("got  %+v\nwant %+v", got, in)
	}
}
