package eval

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func keys(t *testing.T, data json.RawMessage) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func sampleReport() *Report {
	r := NewReport("tiny.en")
	r.Add(Row{Path: "a.wav", Reference: "The cat sat on the mat.", Language: "en"}, "the hat sat on the mat", 2, Took{500 * time.Millisecond, 900 * time.Millisecond})
	r.Add(Row{Path: "b.wav", Reference: "Hello <there> & you", Language: "en"}, "hello and you you", 1, Took{250 * time.Millisecond, 400 * time.Millisecond})
	return r
}

func TestReportJSON(t *testing.T) {
	r := sampleReport()
	r.EncodeMS, r.DecodeMS, r.Tokens, r.PeakRSSBytes = 600, 100, 20, 123e6
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("audio_seconds cer clips cpu_seconds decode_ms encode_ms errors load_ms model peak_rss_bytes rows rtf runaway tokens wall_seconds wer words")
	if got := keys(t, b.Bytes()); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Clips != 2 || back.Words != 9 || back.Errors != 2 || *back.WER != 2.0/9 || *back.RTF != 0.25 || back.AudioSeconds != 3 || back.CPUSeconds != 1.3 {
		t.Errorf("got %s", b.String())
	}
	if row := back.Rows[1]; row != (Result{"b.wav", "Hello <there> & you", "hello and you you", 3, 1, 1, 250, 400}) {
		t.Errorf("row %+v", row)
	}
	var rows struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(b.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	want = strings.Fields("cpu_ms errors hypothesis path reference seconds wall_ms words")
	if got := keys(t, rows.Rows[0]); !slices.Equal(got, want) {
		t.Errorf("row keys %q, want %q", got, want)
	}
}

func TestReportWithoutReferenceWords(t *testing.T) {
	r := NewReport("base")
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"wer": null`) || !strings.Contains(b.String(), `"rows": []`) {
		t.Errorf("no clips: %v, %s", err, b.String())
	}
	r.Add(Row{Path: "noise.wav", Language: "en"}, "Thank you.", 0, Took{Wall: time.Second})
	b.Reset()
	if err := r.WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"wer": null`) || !strings.Contains(b.String(), `"errors": 2`) {
		t.Errorf("noise: %v, %s", err, b.String())
	}
	b.Reset()
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "2 words where the reference has none") {
		t.Errorf("noise: %v\n%s", err, b.String())
	}
}

func TestReportTable(t *testing.T) {
	r := sampleReport()
	r.EncodeMS, r.DecodeMS, r.Tokens, r.PeakRSSBytes, r.LoadMS = 600, 100, 20, 123e6, 250
	r.Runaway, r.Differences = 1, []Difference{{"other", 0.0123, -0.001, 0.02}}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	const want = `model        tiny.en
clips        2
words        9
errors       2 (1 substituted, 1 inserted, 0 deleted)
WER          22.22 %
CER          14.29 %
worst clip   33.33 % (1 of 3 words)  b.wav
runaway      clips with far too long a text: 1
difference   +1.23 points to other (95 %: -0.10 … +2.00)
audio        3s
load         250 ms
time         800ms (0.250 × real time)
encoder      300 ms a clip
decoder      5.00 ms a token, 20 tokens
peak memory  123 MB
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWorst(t *testing.T) {
	r := NewReport("m")
	if r.Worst() != nil {
		t.Error("worst of nothing")
	}
	add := func(path, ref, hyp string) { r.Add(Row{Path: path, Reference: ref}, hyp, 1, Took{}) }
	add("right", "a b", "a b")
	if r.Worst() != nil {
		t.Error("worst without errors")
	}
	add("third", "a b c", "a b d")
	add("half", "a b", "a c")
	add("half again", "a b", "a c")
	if got := r.Worst().Path; got != "half" {
		t.Errorf("got %q, want half", got)
	}
	add("noise", "", "x")
	add("more noise", "", "x y")
	add("all", "a", "b c d e")
	if got := r.Worst().Path; got != "more noise" {
		t.Errorf("got %q, want more noise", got)
	}
}

func TestRunaway(t *testing.T) {
	r := NewReport("m")
	add := func(ref, hyp string) { r.Add(Row{Reference: ref}, hyp, 1, Took{}) }
	add("ééééé éééé", strings.Repeat("é", 35)) // 10 characters allow 35
	if r.Runaway != 0 {
		t.Error("35 characters for 10 are not too many")
	}
	add("ééééé éééé", strings.Repeat("é", 36))
	add("", strings.Repeat("a", 21))
	if r.Runaway != 2 {
		t.Errorf("got %d, want 2", r.Runaway)
	}
}

func TestWriteAlignment(t *testing.T) {
	for _, c := range []struct{ name, language, ref, hyp, want string }{
		{"all marks", "en", "The cat sat on.", "the hat has sat", "" +
			"ref  the *** cat sat on\n" +
			"hyp  the hat has sat **\n" +
			"         I   S       D\n"},
		{"wide characters", "ja", "日本語", "日語", "" +
			"ref  日 本 語\n" +
			"hyp  日 ** 語\n" +
			"        D\n"},
		{"empty", "en", "", "", "ref\nhyp\n\n"},
	} {
		var b bytes.Buffer
		if err := WriteAlignment(&b, c.ref, c.hyp, c.language); err != nil || b.String() != c.want {
			t.Errorf("%s: %v, got\n%swant\n%s", c.name, err, b.String(), c.want)
		}
	}
	var b bytes.Buffer
	long := strings.Repeat("word ", 100)
	if err := WriteAlignment(&b, long, long, "en"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > alignColumns+6 {
			t.Errorf("line of %d bytes", len(line))
		}
	}
	if err := WriteAlignment(&b, strings.Repeat("a ", 9000), strings.Repeat("b ", 9000), "en"); err == nil {
		t.Error("9000 words: no error")
	}
}
