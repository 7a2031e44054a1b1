package cpu

// mostRotatedI8 is the longest row that is rotated; one has room on the stack of a
// thread. Whisper's longest has 5120 values.
const mostRotatedI8 = 8192

// rotateI8 multiplies x by a Hadamard matrix H in place:
//
//	x[c], x[c+s] = x[c]+x[c+s], x[c]−x[c+s]
//
// for s = 16, 32, 64 … as long as len(x) is a multiple of 2s, and for each c whose
// partner is in the same run of 2s values. Rows of another length than a multiple of
// 32, and longer ones than [mostRotatedI8], stay as they are. H is symmetric and H·H is
// [gainI8] times the identity, so that the product of two rows is that of the rotated
// ones divided by the gain.
//
// What it is for: in a row of activations few channels are much larger than all others,
// always the same ones, and a scale that has room for them leaves 3 or 4 bits to the
// others. Rotated, the large ones are shared out among 8 (384 columns) to 128 values
// (2048). Neighbours are at least 16 apart so that vectors of any tier are added whole.
// It is QuaRot's online rotation (Ashkboos et al. 2024) for all matrices; it needs no
// data. Measured against float32 with the same tokens, LibriSpeech test-other: divergence
// of a token's probabilities 0.0039 → 0.0011 nat for tiny.en (50 clips), other likeliest
// tokens 29 → 20 of 1315; 0.0043 → 0.0012 nat for base (4 clips). What the encoder returns
// is off by 4.1 → 2.5 % and 6.6 → 3.7 %. It takes 0.1 ns a value on AVX2, 0.5 % of an
// encoder's time.
func rotateI8(x []float32) {
	k := len(x)
	for s := panelRows; rotatesI8(k, s); s *= 2 {
		for from := 0; from < k; from += 2 * s {
			low, high := x[from:from+s], x[from+s:from+2*s]
			for c, a := range low {
				b := high[c]
				low[c], high[c] = a+b, a-b
			}
		}
	}
}

// rotatesI8 says whether, in rows of k values, those s apart are added.
func rotatesI8(k, s int) bool { return 0 < k && k <= mostRotatedI8 && k%(2*s) == 0 }

// gainI8 is the square of what [rotateI8] makes the length of a row of k values grow by,
// a power of two.
func gainI8(k int) float32 {
	gain := 1
	for s := panelRows; rotatesI8(k, s); s *= 2 {
		gain *= 2
	}
	return float32(gain)
}
