// Package whisper decodes speech with OpenAI's Whisper: it states what an encoder
// and a decoder must do (contract.go) and holds the loop that turns a window of
// samples into text.
//
// It knows no backend. Encoders and decoders are whisper/ref (plain Go, the
// definition) and whisper/oncpu (what users run); app/cli chooses. It opens no
// files and starts no threads. The method is that of Radford et al. 2022
// (arXiv:2212.04356) and of decoding.py in the reference implementation.
package whisper
