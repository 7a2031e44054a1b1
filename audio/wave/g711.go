package wave

// decodeTable decodes one byte per sample through a table.
func decodeTable(table *[256]float32) func(dst []float32, src []byte) {
	return func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = table[src[i]]
		}
	}
}

// aLaw returns the A-law decoding table (ITU-T G.711, table 1a): sign, 3 bits of
// segment s, 4 bits of step m, the even bits inverted. Amplitudes are 13 bits:
//
//	s = 0: 2m + 1      s > 0: (2m + 33) · 2^(s-1)
func aLaw() *[256]float32 {
	var table [256]float32
	for code := range table {
		c := code ^ 0x55
		s, m := c>>4&7, c&15
		v := 2*m + 1
		if s > 0 {
			v = (2*m + 33) << (s - 1)
		}
		table[code] = float32(v) / 4096
		if c&0x80 == 0 {
			table[code] = -table[code]
		}
	}
	return &table
}

// muLaw returns the mu-law decoding table (ITU-T G.711, table 2a): all bits
// inverted, amplitudes of 14 bits: (2m + 33) · 2^s - 33.
func muLaw() *[256]float32 {
	var table [256]float32
	for code := range table {
		c := code ^ 0xFF
		s, m := c>>4&7, c&15
		table[code] = float32((2*m+33)<<s-33) / 8192
		if c&0x80 != 0 {
			table[code] = -table[code]
		}
	}
	return &table
}
