package cpu

import "math"

// roundF16Generic defines what a float16 (IEEE 754 binary16) holds of x: the nearest
// value, of two the even one, from 65520 on infinity. NaN stays NaN and keeps its
// upper bits.
func roundF16Generic(x float32) uint16 {
	b := math.Float32bits(x)
	sign, size := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case size > 0x7f800000: // NaN, made quiet
		return sign | 0x7e00 | uint16(size>>13&0x3ff)
	case size >= 0x477ff000: // 65520, half-way to what would be 65536
		return sign | 0x7c00
	case size < 0x38800000: // below 2⁻¹⁴: in units of 2⁻²⁴, which is what 0.5 is stored in
		half := math.Float32frombits(size) + 0.5
		return sign | uint16(math.Float32bits(half)-math.Float32bits(0.5))
	}
	size += 0xfff + size>>13&1
	return sign | uint16((size-(127-15)<<23)>>13)
}

// fromF16 is the value of a float16.
func fromF16(h uint16) float32 {
	b := uint32(h&0x7fff) << 13
	if b >= 0x7c00<<13 {
		b |= 0x7f800000 // infinity or NaN
	} else {
		const scale = 1 << (127 - 15) // between the exponents' offsets; exact for denormals too
		b = math.Float32bits(math.Float32frombits(b) * scale)
	}
	return math.Float32frombits(b | uint32(h&0x8000)<<16)
}

// dotF16Generic is dotF32Generic for a panel of float16 values.
func dotF16Generic(a0, a1 []float32, b []uint16) [2][4]float32 {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a1 = a1[:len(a0)]
	for c, x := range a0 {
		y := a1[c]
		q := (*[4]uint16)(b[c*panelRows:])
		q0, q1, q2, q3 := fromF16(q[0]), fromF16(q[1]), fromF16(q[2]), fromF16(q[3])
		s00 += float32(x * q0)
		s01 += float32(x * q1)
		s02 += float32(x * q2)
		s03 += float32(x * q3)
		s10 += float32(y * q0)
		s11 += float32(y * q1)
		s12 += float32(y * q2)
		s13 += float32(y * q3)
	}
	return [2][4]float32{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
}
