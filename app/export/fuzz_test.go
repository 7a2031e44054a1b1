package export

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzReadSRT(f *testing.F) {
	f.Add([]byte("1\n00:00:01,000 --> 00:00:02,000\n<i>one</i>\n\ntwo\n2\n00:03,000 --> 00:04,000 X1:1\n42"))
	fuzzRead(f, SRT)
}

func FuzzReadVTT(f *testing.F) {
	f.Add([]byte("WEBVTT - x\nKind: y\n\nNOTE z\n\nid\n00:01.500 --> 100:00:02.000 align:start\n<v Ann>a &amp; <00:01.600><c>b</c>"))
	fuzzRead(f, VTT)
}

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"text":"a","duration":2.5,"created":"2026-01-02T03:04:05Z","coverage":0.5,"warnings":[{"start":1,"end":2,"text":"w"}],
		"segments":[{"start":1,"end":2,"text":"a b","avg_logprob":null,"temperature":0,"speaker":"Ann","notes":["n"],"words":[{"word":" a","start":1,"end":1.5,"probability":1},{"word":"b"}]}]}`))
	fuzzRead(f, JSON)
}

func FuzzReadJSONL(f *testing.F) {
	f.Add([]byte("{\"start\":1,\"end\":95,\"text\":\"a. b, c d 漢字\"}\n\n{}"))
	fuzzRead(f, JSONL)
}

func FuzzReadTSV(f *testing.F) {
	f.Add([]byte("start\tend\ttext\n1000\t2000\tone\ttwo\r\n-5\t99999999999999\tthree"))
	fuzzRead(f, TSV)
}

func FuzzReadLRC(f *testing.F) {
	f.Add([]byte("[ti:x]\n[offset:-500]\n[00:01.00][1:05:20]la <00:01.20>la\n[100:00]"))
	fuzzRead(f, LRC)
}

// fuzzRead reads anything: it gives a SyntaxError, or a transcript that every format
// can hold, whose text comes back from this one.
func fuzzRead(f *testing.F, format Format) {
	f.Add([]byte(""))
	f.Add([]byte("\ufeff\r\n\r\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Read(bytes.NewReader(data), format)
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			return
		}
		in.Segments = Tidy(in.Segments, in.Duration, 0)
		for _, other := range Formats() {
			opts := Options{WordTimes: true, Lines: -1}
			if other == format {
				opts.Width = -1 // a cut inside a word does not come back
			}
			var out bytes.Buffer
			if err := Write(&out, other, in, opts); err != nil {
				t.Fatal(err)
			}
			if parsers[other] == nil {
				continue
			}
			back, err := Read(&out, other)
			if err != nil {
				t.Fatalf("read back: %v", err)
			}
			if other == format && !markup(format, in.Segments) {
				compare(t, back, in)
			}
		}
	})
}

// markup says whether a text looks like markup that cannot be escaped. It does when
// markup was inside markup.
func markup(f Format, segments []Segment) bool {
	for _, s := range segments {
		if f == SRT && srtTag.MatchString(s.Text) || f == LRC && lrcWord.MatchString(s.Text) {
			return true
		}
	}
	return false
}

func compare(t *testing.T, got, want Transcript) {
	t.Helper()
	if len(got.Segments) != len(want.Segments) {
		t.Fatalf("got  %q\nwant %q", brief(got.Segments), brief(want.Segments))
	}
	for i, s := range got.Segments {
		if w := want.Segments[i]; s.Text != w.Text || s.Speaker != w.Speaker {
			t.Fatalf("segment %d: got %q by %q, want %q by %q", i, s.Text, s.Speaker, w.Text, w.Speaker)
		}
	}
}
