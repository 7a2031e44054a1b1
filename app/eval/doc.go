// Package eval says how far a transcript is from its reference: it reads
// manifests, brings two spellings of the same spoken words to one form, counts
// word and character errors, and reports them to people and to scripts.
//
// The English form follows the conventions of the Whisper paper's appendix C
// (arXiv:2212.04356), so that figures can be compared with published ones; the
// tables and rules are our own. Other languages get Unicode folding only.
//
// The package owns nothing: no files, no state, no goroutines. It never opens the
// paths a manifest names.
package eval
