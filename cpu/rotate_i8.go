package cpu

// mostRotatedI8 is the longest row that is rotated; one has room on the stack of a
// thread. Whisper's longest has 5120 values.
const mostRotatedI8 = 8192

// rotateI8 multiplies x by an orthogonal symmetric matrix H in place: its inverse is
// itself, and the product of two rows is that of the rotated ones. It mixes n values
// that are s apart, for each c that is the first of such,
//
//	x[c+i·s] −= 2/n · Σ_j x[c+j·s]    for i and j < n
//
// with n = 4 for s = 1, 4, 16 … as long as len(x) is a multiple of 4s, and then once
// with n = 3 if it is one of 3s. Rows of another length than a multiple of 16, and longer
// ones than [mostRotatedI8], stay as they are.
//
// What it is for: in a row of activations few channels are much larger than all others,
// always the same ones, and a scale that has room for them leaves 3 or 4 bits to the
// others. Rotated, the large ones are shared out among 192 (384 columns) to 1024 values
// (2048). It is the online rotation of QuaRot (Ashkboos et al. 2024) for all matrices,
// which needs no data, with reflections in place of sums and differences: as they have
// no row of equal signs, what all channels have in common, as behind GELU, does not
// end up in a few of them.
func rotateI8(x []float32) {
	k := len(x)
	if k%panelRows != 0 || k > mostRotatedI8 {
		return
	}
	s := 1
	for ; s <= k && k%(4*s) == 0; s *= 4 {
		for c := range k {
			if c/s%4 == 0 {
				a, b, d, e := x[c], x[c+s], x[c+2*s], x[c+3*s]
				half := float32(((a + d) + (b + e)) * 0.5) // not one operation with what follows
				x[c], x[c+s], x[c+2*s], x[c+3*s] = a-half, b-half, d-half, e-half
			}
		}
	}
	if k%(3*s) != 0 {
		return
	}
	for c := range k {
		if c/s%3 == 0 {
			a, b, d := x[c], x[c+s], x[c+2*s]
			most := float32(((a + b) + d) * (2.0 / 3))
			x[c], x[c+s], x[c+2*s] = a-most, b-most, d-most
		}
	}
}
