// Package export writes transcripts as files and reads them back: txt, srt, vtt,
// json, jsonl, tsv, lrc and md. It is the one place that does either, so that what
// is true of one format (order, lengths, rounding, clean text) is true of all.
//
// Every segment passes Tidy before it is written. Times are seconds in float64 up to
// there, because that is what an engine's arithmetic gives, NaN included; they are
// rounded once, to whole milliseconds (LRC: hundredths), when they are written, and
// split into hours, minutes and seconds after that.
//
// Formats follow their own rules: vtt the W3C's WebVTT, srt what players agree on
// (nothing is escaped), tsv the columns of the reference implementation of Whisper,
// md CommonMark. The keys of json mean the same as in OpenAI's verbose_json as far as
// that has them; times are seconds with three decimals, what is not known is left out,
// and a number that is none is null:
//
//	task, language, duration, text     as in verbose_json
//	title, model, created (RFC 3339)   what the recording is
//	coverage                           0 … 1
//	warnings                           list of start, end, text
//	segments                           list of
//	  id, start, end, text             id counts from 0
//	  avg_logprob, no_speech_prob, compression_ratio, temperature
//	  words                            list of word, start, end, probability
//	  language, speaker, notes         notes is a list of texts
//
// jsonl has one such segment a line.
//
// The package keeps no state, starts no threads and opens no files.
package export

import (
	"strings"
	"time"
)

// Transcript is what was said in one recording, and what is known about it. Only
// Segments are needed.
type Transcript struct {
	Title    string
	Task     string // "transcribe" or "translate"
	Language string // code, e.g. "en"
	Model    string
	Created  time.Time // when the recording began, by the wall clock
	// Duration is the length of the recording in seconds; 0 where it is not known.
	// Reading a format that does not tell it gives the last end.
	Duration float64
	// Coverage is the share of the voiced sound that the text accounts for, 0 … 1;
	// nil where nobody measured it.
	Coverage *float64
	Warnings []Warning
	Segments []Segment
}

// Warning is a remark on a span of the recording, such as voiced sound without text.
type Warning struct {
	Start, End float64 // seconds; both 0 for the recording as a whole
	Text       string
}

// Segment is a stretch of text with its place in the recording.
type Segment struct {
	Start, End float64 // seconds since the start of the recording
	Text       string
	// Words are the words of Text in their order, or none.
	Words    []Word
	Language string    // code, where it differs from segment to segment
	Speaker  string    // label of a speaker or a channel
	Decoding *Decoding // nil where no decoder was asked
	Notes    []string  // remarks, such as low confidence or a fallback and its reason
}

// Decoding is how sure the decoder was, in the reference implementation's terms.
type Decoding struct {
	AvgLogProb       float64 // mean natural log-probability of the tokens
	NoSpeechProb     float64 // 0 … 1
	CompressionRatio float64 // bytes of the text through bytes of it deflated
	Temperature      float64 // of the sampling; 0 is greedy or beam search
}

// Word is one word of a segment. Spaces around Text don't matter.
type Word struct {
	Start, End  float64 // seconds since the start of the recording
	Text        string
	Probability float64 // 0 … 1
}

// Text is the whole text without times: the segments in order, with a space between
// two unless both sides are of a script that writes none.
func (t Transcript) Text() string {
	texts := make([]string, len(t.Segments))
	for i, s := range t.Segments {
		texts[i] = clean(s.Text)
	}
	return joined(texts)
}

// labelled puts a speaker in front of a text, for formats without a field for it.
func labelled(speaker, text string) string {
	if speaker == "" {
		return text
	}
	return strings.TrimSuffix(speaker, ":") + ": " + text
}
