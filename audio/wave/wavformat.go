package wave

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Format tags (RFC 2361 and mmreg.h).
const (
	tagPCM        = 0x0001
	tagFloat      = 0x0003
	tagALaw       = 0x0006
	tagMuLaw      = 0x0007
	tagExtensible = 0xFFFE
)

// waveFormat is the content of the fmt chunk.
type waveFormat struct {
	tag        uint16 // that of the sub-format where the file says EXTENSIBLE
	guid       string // the sub-format when it is not a format tag; else ""
	channels   uint16
	rate       uint32
	blockAlign uint16 // bytes per frame
	bits       uint16 // per sample, as declared
}

const (
	plainFormatLen      = 16
	extensibleFormatLen = 40
)

// readFormat reads the fmt chunk, which has 16, 18 or 40 bytes; more are skipped.
func (w *riffWalk) readFormat(size uint32) error {
	if size < plainFormatLen {
		return damagedf("the fmt chunk has %d bytes, at least %d are needed", size, plainFormatLen)
	}
	var buf [extensibleFormatLen]byte
	b := buf[:min(size, extensibleFormatLen)]
	if n, err := io.ReadFull(w.in, b); err != nil {
		if !ended(err) {
			return err
		}
		return damagedf("the fmt chunk declares %d bytes, found %d", size, n)
	}
	w.hasFmt = true
	w.format = parseFormat(b)
	return w.skip(int64(size) - int64(len(b)))
}

func parseFormat(b []byte) waveFormat {
	le := binary.LittleEndian
	f := waveFormat{
		tag:        le.Uint16(b),
		channels:   le.Uint16(b[2:]),
		rate:       le.Uint32(b[4:]),
		blockAlign: le.Uint16(b[12:]),
		bits:       le.Uint16(b[14:]),
	}
	if f.tag != tagExtensible || len(b) < extensibleFormatLen {
		return f
	}
	// Bytes 16-39: size of the extension, valid bits, speaker mask, sub-format. A
	// sub-format is a GUID that is a format tag followed by a fixed tail. The valid
	// bits do not matter: samples are aligned to the top of their container.
	const tail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
	if g := b[24:40]; string(g[2:]) == tail {
		f.tag = le.Uint16(g)
	} else {
		f.guid = fmt.Sprintf("%08X-%04X-%04X-%X-%X", le.Uint32(g), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:10], g[10:16])
	}
	return f
}

// container returns the bytes that one sample takes. Samples of odd widths (12 or 20
// bits) sit in the next larger container; blockAlign tells of a still larger one.
func (f waveFormat) container() int {
	bytes := (int(f.bits) + 7) / 8
	if ch := int(f.channels); ch > 0 && int(f.blockAlign)%ch == 0 {
		if c := int(f.blockAlign) / ch; c > bytes && c <= 4 {
			return c
		}
	}
	return bytes
}

// codec chooses how the samples are decoded.
func (f waveFormat) codec() (wavCodec, error) {
	n := f.container()
	switch {
	case f.guid != "":
		return wavCodec{}, f.unsupported()
	case f.tag == tagPCM && n >= 1 && n <= 4:
		return wavCodec{"PCM", n, openPCM}, nil
	case f.tag == tagFloat && f.bits == 32:
		return wavCodec{"IEEE float", 4, decodeWith(decodeFloat32)}, nil
	case f.tag == tagFloat && f.bits == 64:
		return wavCodec{"IEEE float", 8, decodeWith(decodeFloat64)}, nil
	case f.tag == tagALaw && n <= 1:
		return wavCodec{"A-law", 1, decodeWith(decodeTable(aLaw()))}, nil
	case f.tag == tagMuLaw && n <= 1:
		return wavCodec{"mu-law", 1, decodeWith(decodeTable(muLaw()))}, nil
	}
	return wavCodec{}, f.unsupported()
}

func (f waveFormat) unsupported() error {
	if f.guid != "" {
		return &FormatError{Found: "WAV with sub-format {" + f.guid + "}"}
	}
	name := tagNames[f.tag]
	switch f.tag {
	case tagPCM, tagFloat, tagALaw, tagMuLaw:
		name = fmt.Sprintf("%s of %d bits", name, f.bits)
	case tagExtensible:
		name += " without a sub-format"
	}
	if name == "" {
		name = "an unknown codec"
	}
	return &FormatError{Found: fmt.Sprintf("WAV with %s (0x%04X)", name, f.tag)}
}

// tagNames names the codecs that WAV files really hold.
var tagNames = map[uint16]string{
	tagPCM:        "PCM",
	0x0002:        "MS ADPCM",
	tagFloat:      "IEEE float",
	tagALaw:       "A-law",
	tagMuLaw:      "mu-law",
	0x0011:        "IMA ADPCM",
	0x0017:        "OKI ADPCM",
	0x0022:        "TrueSpeech",
	0x0031:        "GSM 6.10",
	0x0040:        "G.721 ADPCM",
	0x0045:        "G.726 ADPCM",
	0x0050:        "MPEG layer I or II",
	0x0055:        "MPEG layer III",
	0x0064:        "G.726 ADPCM",
	0x00FF:        "AAC",
	0x0160:        "Windows Media Audio 1",
	0x0161:        "Windows Media Audio 2",
	0x0162:        "Windows Media Audio Pro",
	0x1600:        "AAC (ADTS)",
	0x2000:        "Dolby AC-3",
	0xF1AC:        "FLAC",
	tagExtensible: "EXTENSIBLE",
}
