package vad

import (
	"time"

	"earshot/audio"
)

// Options say where speech begins and ends.
type Options struct {
	// Speech begins with a chunk whose probability is at least Threshold; a pause
	// begins with one below EndThreshold and lasts until Threshold is reached again
	// (silero_vad/utils_vad.py: get_speech_timestamps).
	Threshold, EndThreshold float32

	// BackgroundDB is how far below a speaker those who talk behind him are, or more: what
	// is as quiet as they are is a pause too, where hardly any chunk is below EndThreshold.
	// 0: only the probability says what is a pause.
	BackgroundDB float64

	MinSpeech  time.Duration // what reaches Threshold for less in all was no speech
	MinSilence time.Duration // a pause of this length ends a segment (hang-over)
	PreRoll    time.Duration // kept in front of the first chunk of speech
	Trail      time.Duration // kept behind the last one; MinSilence at most
	Longest    time.Duration // of a segment or a piece, pads included; 1 s or more
	Apart      time.Duration // a longer silence ends a piece
}

// LiveOptions are for a microphone: the end of an utterance is to be known soon. None is
// longer than 14 s, so that nothing that was said stays without a final text for more than
// 15 (cases.md, C94).
func LiveOptions() Options {
	return Options{
		Threshold:    0.5,
		EndThreshold: 0.35,
		BackgroundDB: 10,
		MinSpeech:    96 * time.Millisecond,
		MinSilence:   608 * time.Millisecond,
		PreRoll:      300 * time.Millisecond,
		Trail:        400 * time.Millisecond,
		Longest:      14 * time.Second,
		Apart:        5 * time.Second,
	}
}

// FileOptions are for recordings: pauses up to a second stay in, segments may fill
// Whisper's window, and those who talk in the background are left in.
func FileOptions() Options {
	o := LiveOptions()
	o.BackgroundDB = 0
	o.MinSilence = time.Second
	o.Longest = 30 * time.Second
	return o
}

// limits are Options in samples.
type limits struct {
	Options
	minSpeech, minSilence, preRoll, trail, longest, apart int
}

func (o Options) limits() limits {
	l := limits{
		Options:    o,
		minSpeech:  toSamples(o.MinSpeech),
		minSilence: toSamples(o.MinSilence),
		preRoll:    toSamples(o.PreRoll),
		trail:      toSamples(o.Trail),
		longest:    max(audio.SampleRate, toSamples(o.Longest)),
		apart:      toSamples(o.Apart),
	}
	// The trail must be there when the segment ends.
	l.trail = min(l.trail, l.minSilence)
	return l
}

func toSamples(d time.Duration) int { return int(d * audio.SampleRate / time.Second) }
