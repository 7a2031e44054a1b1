package weights

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	magic         = "EARSHOTM"
	formatVersion = 1
	preambleBytes = 40
	pageBytes     = 4096
	alignBytes    = 64
	// maxHeaderBytes is 40 times what large-v3 needs.
	maxHeaderBytes = 8 << 20
)

// castagnoli is CRC-32C, which amd64 and arm64 compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// preamble is the fixed part at the beginning of the file.
type preamble struct {
	headerBytes int64
	dataOffset  int64
	fileBytes   int64
	headerCRC   uint32
}

// encode returns the file's first bytes: preamble and JSON header.
func (h *Header) encode(dataOffset, fileBytes int64) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if int64(preambleBytes+len(body)) > dataOffset || len(body) > maxHeaderBytes {
		return nil, fmt.Errorf("header of %d bytes does not fit before %d", len(body), dataOffset)
	}
	le := binary.LittleEndian
	p := le.AppendUint32([]byte(magic), formatVersion)
	p = le.AppendUint32(p, uint32(len(body)))
	p = le.AppendUint64(p, uint64(dataOffset))
	p = le.AppendUint64(p, uint64(fileBytes))
	p = le.AppendUint32(p, crc32.Checksum(body, castagnoli))
	p = le.AppendUint32(p, crc32.Checksum(p, castagnoli))
	return append(p, body...), nil
}

// readPreamble reads and checks the preamble of a file of size bytes.
func readPreamble(r io.ReaderAt, size int64) (preamble, error) {
	b := make([]byte, preambleBytes)
	n, err := r.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return preamble{}, err
	}
	if known := min(n, len(magic)); string(b[:known]) != magic[:known] {
		return preamble{}, fmt.Errorf("not an earshot model file: begins with % x", b[:min(n, 8)])
	}
	if n < preambleBytes {
		return preamble{}, fmt.Errorf("cut at byte %d of at least %d", n, preambleBytes)
	}
	le := binary.LittleEndian
	if crc32.Checksum(b[:36], castagnoli) != le.Uint32(b[36:]) {
		return preamble{}, fmt.Errorf("damaged: checksum of the first %d bytes", preambleBytes)
	}
	if v := le.Uint32(b[8:]); v != formatVersion {
		return preamble{}, fmt.Errorf("written in version %d of the format by another earshot; this one reads version %d", v, formatVersion)
	}
	p := preamble{
		headerBytes: int64(le.Uint32(b[12:])),
		dataOffset:  int64(le.Uint64(b[16:])),
		fileBytes:   int64(le.Uint64(b[24:])),
		headerCRC:   le.Uint32(b[32:]),
	}
	if p.headerBytes > maxHeaderBytes || p.dataOffset%pageBytes != 0 || p.dataOffset < preambleBytes+p.headerBytes ||
		p.dataOffset > 2*maxHeaderBytes || p.fileBytes < p.dataOffset {
		return preamble{}, fmt.Errorf("damaged: header of %d bytes, data from %d to %d", p.headerBytes, p.dataOffset, p.fileBytes)
	}
	switch {
	case size < p.fileBytes:
		return preamble{}, fmt.Errorf("cut at byte %d of %d", size, p.fileBytes)
	case size > p.fileBytes:
		return preamble{}, fmt.Errorf("damaged: %d bytes follow the end at %d", size-p.fileBytes, p.fileBytes)
	}
	return p, nil
}

// readHeader reads and checks the JSON header.
func readHeader(r io.ReaderAt, p preamble) (*Header, error) {
	body := make([]byte, p.headerBytes)
	if _, err := r.ReadAt(body, preambleBytes); err != nil {
		return nil, fmt.Errorf("header: %w", noEOF(err))
	}
	if crc32.Checksum(body, castagnoli) != p.headerCRC {
		return nil, fmt.Errorf("damaged: checksum of the header")
	}
	h := new(Header)
	if err := json.Unmarshal(body, h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := h.check(p.fileBytes - p.dataOffset); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return h, nil
}
