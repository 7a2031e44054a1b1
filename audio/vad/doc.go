// Package vad finds where someone speaks in a recording, and cuts it there.
//
// A Detector judges chunks of 32 ms: Silero, a small recurrent network, or Gate, an
// energy and spectral-flatness gate that goes in front of Silero and stands in for it
// when there are no weights. A Segmenter makes segments of its judgements, sample by
// sample as they come, for files as for a microphone; Speech packs the segments of a
// recording into pieces that fit a model's window, with an exact map from their time
// line to the recording's. Pieces cuts a recording without asking for speech.
//
// Everything runs on the calling thread, owns no files and holds one segment and one
// piece in memory, whatever the length of the recording. All lengths and places are in
// samples, 16 kHz mono.
package vad
