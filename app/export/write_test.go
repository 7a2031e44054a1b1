package export

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func render(t *testing.T, f Format, in Transcript, opts Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, f, in, opts); err != nil {
		t.Fatalf("write %s: %v", f, err)
	}
	return b.String()
}

func example() Transcript {
	coverage := 0.75
	return Transcript{
		Title: "talk_1.wav", Task: "transcribe", Language: "en", Model: "tiny.en", Duration: 29.9,
		Created:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Coverage: &coverage,
		Warnings: []Warning{{21.56, 28.92, "voice without text"}, {Text: "channels are equal"}},
		Segments: []Segment{
			{Start: 0.9995, End: 2.5, Text: " a --> b & <c>", Decoding: &Decoding{-0.25, 0.01, 1.5, 0}, Words: []Word{
				{0.9995, 1.2, " a", 0.5}, {1.3, 1.5, " -->", 1}, {1.5, 1.75, " b", 1}, {1.8, 2, " &", 1}, {2, 2.5, " <c>", math.NaN()}}},
			{Start: 2, End: 3, Text: "one\n\ntwo", Speaker: "Ann", Language: "de", Notes: []string{"low confidence"}},
			{Start: 6, End: 30.02, Text: "[Music]"},
		},
	}
}

func TestWrite(t *testing.T) {
	for f, want := range map[Format]string{
		TXT: "a --> b & <c>\nAnn: one two\n[Music]\n",
		SRT: "1\n00:00:01,000 --> 00:00:02,500\na --> b & <c>\n\n" +
			"2\n00:00:02,000 --> 00:00:03,000\nAnn: one two\n\n" +
			"3\n00:00:06,000 --> 00:00:29,900\n[Music]\n\n",
		VTT: "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n" +
			"a <00:00:01.300>--&gt; <00:00:01.500>b <00:00:01.800>&amp; <00:00:02.000>&lt;c&gt;\n\n" +
			"00:00:02.000 --> 00:00:03.000\n<v Ann>one two\n\n" +
			"00:00:06.000 --> 00:00:29.900\n[Music]\n",
		JSONL: `{"id":0,"start":1.000,"end":2.500,"text":"a --> b & <c>","avg_logprob":-0.25,"no_speech_prob":0.01,"compression_ratio":1.5,"temperature":0,"words":[` +
			`{"word":"a","start":1.000,"end":1.200,"probability":0.5},{"word":"-->","start":1.300,"end":1.500,"probability":1},` +
			`{"word":"b","start":1.500,"end":1.750,"probability":1},{"word":"&","start":1.800,"end":2.000,"probability":1},` +
			`{"word":"<c>","start":2.000,"end":2.500,"probability":null}]}` + "\n" +
			`{"id":1,"start":2.000,"end":3.000,"text":"one two","language":"de","speaker":"Ann","notes":["low confidence"]}` + "\n" +
			`{"id":2,"start":6.000,"end":29.900,"text":"[Music]"}` + "\n",
		TSV: "start\tend\ttext\n1000\t2500\ta --> b & <c>\n2000\t3000\tAnn: one two\n6000\t29900\t[Music]\n",
		LRC: "[ti:talk_1.wav]\n[00:01.00]a --> b & <c>\n[00:02.00]Ann: one two\n[00:03.00]\n[00:06.00] [Music]\n[00:29.90]\n",
		MD: "# talk\\_1.wav\n\n- Recorded: 2026-01-02 03:04:05 +00:00\n- Duration: 00:00:29\n- Language: en\n- Task: transcribe\n- Model: tiny.en\n" +
			"- Coverage: 75 %\n- Warning: 00:00:21–00:00:28: voice without text\n- Warning: channels are equal\n\n" +
			"**00:00:01** a --\\> b \\& \\<c\\>\n\n**00:00:02** *Ann:* one two\n\n**00:00:06** \\[Music\\]\n",
	} {
		t.Run(string(f), func(t *testing.T) {
			if got := render(t, f, example(), Options{WordTimes: true}); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWriteJSON(t *testing.T) {
	text := render(t, JSON, example(), Options{})
	lines := strings.Split(strings.TrimSuffix(render(t, JSONL, example(), Options{}), "\n"), "\n")
	want := `{"task":"transcribe","title":"talk_1.wav","language":"en","duration":29.900,"model":"tiny.en","created":"2026-01-02T03:04:05Z","coverage":0.75,` +
		`"warnings":[{"start":21.560,"end":28.920,"text":"voice without text"},{"start":0.000,"end":0.000,"text":"channels are equal"}],` +
		`"text":"a --> b & <c> one two [Music]","segments":[` + "\n" + strings.Join(lines, ",\n") + "\n]}\n"
	if text != want || !json.Valid([]byte(text)) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if empty, want := render(t, JSON, Transcript{}, Options{}), `{"duration":0.000,"text":"","segments":[`+"\n]}\n"; empty != want || !json.Valid([]byte(empty)) {
		t.Errorf("no segments: got %s, want %s", empty, want)
	}
	// A byte left over of a cut character (C64).
	broken := render(t, JSON, Transcript{Segments: []Segment{{Text: "地\xf0\x9f"}}}, Options{})
	if !json.Valid([]byte(broken)) || strings.Contains(broken, "\ufffd") || !strings.Contains(broken, `"地"`) {
		t.Errorf("a byte left over: got %s", broken)
	}
}

func TestWriteEmpty(t *testing.T) {
	for f, want := range map[Format]string{TXT: "", SRT: "", VTT: "WEBVTT\n", JSONL: "", TSV: "start\tend\ttext\n", LRC: "", MD: "# Transcript\n\n"} {
		if got := render(t, f, Transcript{}, Options{}); got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}

// A segment at the right place of another makes no difference: lines keep what they
// cannot get back by being joined.
func TestWriteKeepsSpaces(t *testing.T) {
	in := Transcript{Segments: []Segment{{End: 1, Text: "漢字漢字 漢字漢字 and 漢字漢字漢字漢字"}}}
	for _, f := range []Format{SRT, VTT} {
		text := render(t, f, in, Options{Width: 10, Lines: -1})
		got, err := Read(strings.NewReader(text), f)
		if err != nil || got.Text() != in.Text() {
			t.Errorf("got %q, %v from\n%s", got.Text(), err, text)
		}
	}
}

// Case C111: an export while the recording goes on is the beginning of the last one.
func TestWriterPrefix(t *testing.T) {
	in := example()
	for _, f := range []Format{TXT, SRT, VTT, JSONL, TSV} {
		whole := render(t, f, in, Options{})
		var b strings.Builder
		w, err := NewWriter(&b, f, in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n, s := range in.Segments {
			so := in
			so.Segments = in.Segments[:n]
			if part := render(t, f, so, Options{}); !strings.HasPrefix(whole, part) {
				t.Errorf("%s: %d segments give %q, which is not the beginning of %q", f, n, part, whole)
			}
			if err := w.Append(s); err != nil {
				t.Fatal(err)
			}
			if b.Len() == 0 || !strings.HasPrefix(whole, b.String()) {
				t.Errorf("%s: %q appended is not the beginning of %q", f, b.String(), whole)
			}
		}
		if err := w.Close(); err != nil || b.String() != whole {
			t.Errorf("%s: got %q, %v; want %q", f, b.String(), err, whole)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(fullDisk{}, f, example(), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", f, err, errFull)
		}
	}
	if err := Write(fullDisk{}, "doc", example(), Options{}); err == nil || !strings.Contains(err.Error(), "txt, srt, vtt") {
		t.Errorf("unknown format: got %v", err)
	}
}

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]Format{
		"srt": SRT, "VTT": VTT, ".md": MD, "markdown": MD, "text": TXT, "verbose_json": JSON, " lrc ": LRC, "tsv": TSV, "jsonl": JSONL,
		"": "", "doc": "", "srt.": "",
	} {
		if got, err := ParseFormat(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", name, got, err, want)
		}
	}
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil || f.MediaType() == "" {
			t.Errorf("%s: got %q, %v", f, got, err)
		}
	}
}

func TestMarkdownParagraphs(t *testing.T) {
	var in Transcript
	for i := range 20 {
		at := float64(i * 5)
		in.Segments = append(in.Segments, Segment{Start: at, End: at + 5, Text: "漢字。"})
	}
	in.Segments[15].Start = 78
	got := strings.Split(render(t, MD, in, Options{}), "\n\n")
	want := []string{"# Transcript", "\n**00:00:00** " + strings.Repeat("漢字。", 9), "**00:00:45** " + strings.Repeat("漢字。", 6), "**00:01:18** " + strings.Repeat("漢字。", 5) + "\n"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestUpdate has a recording whose length and language only reading it tells.
func TestUpdate(t *testing.T) {
	whole := example()
	head := whole
	head.Duration, head.Language, head.Coverage, head.Warnings = 1, "", nil, nil
	var b strings.Builder
	w, err := NewWriter(&b, JSON, head, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Update(Transcript{Duration: whole.Duration})
	for _, s := range whole.Segments {
		if err := w.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	w.Update(Transcript{Warnings: []Warning{{Text: "not the last word"}}})
	w.Update(Transcript{Language: whole.Language, Coverage: whole.Coverage, Warnings: whole.Warnings})
	if err := w.Close(); err != nil || b.String() != render(t, JSON, whole, Options{}) {
		t.Errorf("got %v\n%s\nwant\n%s", err, b.String(), render(t, JSON, whole, Options{}))
	}
}
