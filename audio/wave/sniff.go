package wave

import (
	"bytes"
	"fmt"
)

// sniffLen is how many bytes are looked at: an Ogg page header with one packet's
// codec name fits.
const sniffLen = 64

// The containers that are read. What sniff returns besides is the name of a format
// that is not.
const (
	kindWAV  = "WAV"
	kindFLAC = "FLAC"
	kindOgg  = "Ogg"

	// kindUnknown may still be MP3, which has no signature.
	kindUnknown = ""
)

// signatures of the containers that people take for audio files, so that the error
// can name what it was given.
var signatures = []struct {
	offset int
	magic  string
	kind   string
}{
	{0, "fLaC", kindFLAC},
	{0, "OggS", kindOgg},
	{0, "RIFX", "RIFX (big-endian WAV)"},
	{8, "AVI ", "AVI"},
	{8, "AIFF", "AIFF"},
	{8, "AIFC", "AIFF-C"},
	{4, "ftyp", "MP4 (M4A, AAC)"},
	{0, "caff", "CAF"},
	{0, "riff\x2e\x91\xcf\x11", "Sony Wave64"},
	{0, ".snd", "Sun AU"},
	{0, "#!AMR", "AMR"},
	{0, "\x1a\x45\xdf\xa3", "Matroska or WebM"},
	{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "ASF (WMA)"},
	{0, "MAC ", "Monkey's Audio"},
	{0, "wvpk", "WavPack"},
	{0, "NIST_1A", "NIST SPHERE"},
	{0, "ADIF", "AAC (ADIF)"},
	{0, "\xff\xf1", "AAC (ADTS)"},
	{0, "\xff\xf9", "AAC (ADTS)"},
	{0, "PK\x03\x04", "a ZIP archive"},
	{0, "\x1f\x8b", "a gzip file"},
	{0, "%PDF", "a PDF document"},
	{0, "\x89PNG", "a PNG picture"},
}

// sniff names the container that starts with head.
func sniff(head []byte) string {
	if len(head) >= 12 && string(head[8:12]) == "WAVE" {
		switch string(head[:4]) {
		case "RIFF", "RF64", "BW64":
			return kindWAV
		}
	}
	// A WAV header that is cut off is still a WAV file, a damaged one.
	if bytes.HasPrefix([]byte("RIFF"), head) || len(head) < 12 && bytes.HasPrefix(head, []byte("RIFF")) {
		return kindWAV
	}
	for _, s := range signatures {
		if len(head) >= s.offset && bytes.HasPrefix(head[s.offset:], []byte(s.magic)) {
			return s.kind
		}
	}
	return kindUnknown
}

// unknown is the error for input that starts with head and that nothing recognised.
func unknown(head []byte) error {
	return &FormatError{Found: fmt.Sprintf("an unknown format (it starts with % x)", head[:min(len(head), 8)])}
}
