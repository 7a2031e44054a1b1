// Package pipeline is the live loop: sound comes in, speech is found, written down, and
// kept.
//
//	capture.Source ▶ ears ▶ queue ▶ scribe ▶ store.Store
//	                                   └───▶ Hub: what subscribers see
//
// Two goroutines do it. The ears read the source and look for speech; they don't wait
// for a model (unless the source can wait too: a file that is not paced), and when more is
// said than can be written down the sound is kept in the store, as clips that are
// transcribed later. The scribe decodes one thing at a time: what
// has been said to its end first; then what is being said, for captions and so that the
// text is there when the speaker has ended; then, while nobody speaks, clips.
//
// # Decoding ahead
//
// After a short silence (Options.Ahead) an utterance is decoded as if it were over. If it
// is, its text is there already; if the speaker goes on, it was a caption.
//
// # Time
//
// A recording's times count samples since it began, gaps included. The wall clock is
// stored beside them, and nothing depends on it: it may jump, or not be set.
package pipeline
