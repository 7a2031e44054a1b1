package npu

import (
	"encoding/binary"

	"earshot/npu/graph"
)

// finite says whether no element is a NaN or an infinity, in which all bits of the
// exponent are set: then adding the lowest of them carries into the sign's place.
func finite(b []byte, t graph.Type) bool {
	var exponent, lowest, sign uint64
	switch t {
	case graph.Float16:
		exponent, lowest, sign = 0x7c00_7c00_7c00_7c00, 0x0400_0400_0400_0400, 0x8000_8000_8000_8000
	case graph.Float32:
		exponent, lowest, sign = 0x7f80_0000_7f80_0000, 0x0080_0000_0080_0000, 0x8000_0000_8000_0000
	default:
		return true
	}
	for ; len(b) >= 8; b = b[8:] {
		if (binary.LittleEndian.Uint64(b)&exponent+lowest)&sign != 0 {
			return false
		}
	}
	var rest [8]byte
	copy(rest[:], b)
	return (binary.LittleEndian.Uint64(rest[:])&exponent+lowest)&sign == 0
}
