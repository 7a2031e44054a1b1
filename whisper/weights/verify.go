package weights

import (
	"fmt"
	"slices"
)

// Verify reads the whole file and checks every byte of it: checksums, the zeros
// between sections, the tokenizer, and the fingerprint.
func (m *Model) Verify() error {
	if err := m.verifyGaps(); err != nil {
		return fmt.Errorf("model %s: %w", m.path, err)
	}
	if _, err := m.Tokenizer(); err != nil {
		return err
	}
	got, err := fingerprint(m.data(), m.Tensors)
	if err != nil {
		return fmt.Errorf("model %s: %w", m.path, err)
	}
	if got != m.Fingerprint {
		return fmt.Errorf("model %s: fingerprint %s, the header says %s", m.path, got, m.Fingerprint)
	}
	return nil
}

// verifyGaps makes sure that what lies between header and sections is zero.
func (m *Model) verifyGaps() error {
	end := m.preamble.dataOffset
	if err := m.verifyZeros(preambleBytes+m.preamble.headerBytes, end); err != nil {
		return err
	}
	for _, s := range m.sections() {
		if err := m.verifyZeros(end, m.preamble.dataOffset+s.Offset); err != nil {
			return err
		}
		end = m.preamble.dataOffset + s.Offset + s.Bytes
	}
	return nil
}

func (m *Model) verifyZeros(begin, end int64) error {
	gap := make([]byte, end-begin)
	if _, err := m.file.ReadAt(gap, begin); err != nil {
		return fmt.Errorf("unreadable at byte %d: %w", begin, noEOF(err))
	}
	if i := slices.IndexFunc(gap, func(b byte) bool { return b != 0 }); i >= 0 {
		return fmt.Errorf("damaged: byte %d should be zero", begin+int64(i))
	}
	return nil
}
