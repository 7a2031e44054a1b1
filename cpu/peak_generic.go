package cpu

import "runtime"

// peakF32Generic and its likes do what plain Go can: one value at a time.
func peakF32Generic(turns int) int {
	a, b := float32(0.5), float32(1)
	s0, s1, s2, s3 := a, b, a, b
	for range turns {
		s0, s1, s2, s3 = s0*a+b, s1*a+b, s2*a+b, s3*a+b
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3)
	return turns * 4 * 2
}

func peakI8Generic(turns int) int {
	a, b := int8(turns), int8(turns>>8)
	var s0, s1, s2, s3 int32
	for range turns {
		s0 += int32(a) * int32(b)
		s1 += int32(a+1) * int32(b)
		s2 += int32(a+2) * int32(b)
		s3 += int32(a+3) * int32(b)
		a++
	}
	runtime.KeepAlive(s0 + s1 + s2 + s3)
	return turns * 4 * 2
}

func peakReadGeneric(x []float32) float32 {
	var s0, s1, s2, s3 float32
	for i := 0; i+4 <= len(x); i += 4 {
		s0 += x[i]
		s1 += x[i+1]
		s2 += x[i+2]
		s3 += x[i+3]
	}
	return s0 + s1 + s2 + s3
}
