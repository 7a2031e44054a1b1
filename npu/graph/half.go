package graph

import (
	"encoding/binary"
	"math"

	"github.com/x448/float16"
)

// PutFloats writes values to data as elements of type t: float16 are rounded to nearest,
// ties to even, and beyond 65504 to infinity.
func PutFloats(data []byte, t Type, values []float32) {
	for i, v := range values {
		switch t {
		case Float16:
			binary.LittleEndian.PutUint16(data[2*i:], float16.Fromfloat32(v).Bits())
		case Float32:
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
		default:
			panic("BUG: " + t.String() + " of floats")
		}
	}
}

// Floats reads values, the inverse of PutFloats.
func Floats(values []float32, t Type, data []byte) {
	for i := range values {
		switch t {
		case Float16:
			values[i] = float16.Frombits(binary.LittleEndian.Uint16(data[2*i:])).Float32()
		case Float32:
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		default:
			panic("BUG: floats of " + t.String())
		}
	}
}

// round gives values the precision of type t.
func round(t Type, values []float32) {
	if t != Float16 {
		return
	}
	for i, v := range values {
		values[i] = float16.Fromfloat32(v).Float32()
	}
}
