package cpu

// powerSpectraF32Generic defines [Spectrum.PowerF32]: even samples are the real and
// odd ones the imaginary parts of z, whose transform Z, of half the length, gives the
// lines k and N/2−k of the whole.
func powerSpectraF32Generic(dst []float32, ldd int, x []float32, lda, m int, s *Spectrum) {
	var a, b [mostSpectrum / 2]complex128
	half := len(s.window) / 2
	for i := range m {
		row, out := x[i*lda:], dst[i*ldd:]
		for j := range half {
			a[j] = complex(float64(row[2*j])*s.window[2*j], float64(row[2*j+1])*s.window[2*j+1])
		}
		z := s.transform(a[:half], b[:half])
		for k := range half/2 + 1 {
			mirrored := z[(half-k)%half]
			mirrored = complex(real(mirrored), -imag(mirrored))
			even, odd := z[k]+mirrored, timesI((z[k]-mirrored)*s.turn(k))
			out[k] = float32(power(even - odd))
			out[half-k] = float32(power(even + odd))
		}
	}
}

func (s *Spectrum) turn(k int) complex128 { return complex(s.turns[k][0], s.turns[k][1]) }

func timesI(a complex128) complex128 { return complex(-imag(a), real(a)) }

func power(a complex128) float64 { return real(a)*real(a) + imag(a)*imag(a) }

// transform is Stockham's Fourier transform of a by way of b; it returns the one of
// them that holds the result. Before a pass, a holds `stride` interleaved sequences of
// `left` values, after it r·stride of left/r.
func (s *Spectrum) transform(a, b []complex128) []complex128 {
	r := 0
	for left, stride := len(a), 1; left > 1; left, stride = left/r, stride*r {
		r = radix(left)
		part := left / r
		for p := range part {
			for q := range stride {
				in, out := a[q+stride*p:], b[q+stride*r*p:]
				var v [5]complex128
				for j := range r {
					v[j] = in[stride*part*j]
				}
				transformFew(&v, r)
				out[0] = v[0]
				for j := 1; j < r; j++ {
					out[stride*j] = v[j] * s.turn(2*stride*p*j)
				}
			}
		}
		a, b = b, a
	}
	return a
}

func radix(left int) int {
	switch {
	case left%5 == 0:
		return 5
	case left%4 == 0:
		return 4
	}
	return 2
}

// transformFew is the Fourier transform of the first 2, 4 or 5 values of v, in place.
func transformFew(v *[5]complex128, r int) {
	switch r {
	case 2:
		v[0], v[1] = v[0]+v[1], v[0]-v[1]
	case 4:
		s0, d0 := v[0]+v[2], v[0]-v[2]
		s1, d1 := v[1]+v[3], timesI(v[1]-v[3])
		v[0], v[1], v[2], v[3] = s0+s1, d0-d1, s0-s1, d0+d1
	case 5:
		const c1, c2 = 0.30901699437494742410, -0.80901699437494742410 // cos 2π/5, cos 4π/5
		const s1, s2 = 0.95105651629515357212, 0.58778525229247312917  // sin 2π/5, sin 4π/5
		p1, p2, m1, m2 := v[1]+v[4], v[2]+v[3], v[1]-v[4], v[2]-v[3]
		e1, e2 := v[0]+times(p1, c1)+times(p2, c2), v[0]+times(p1, c2)+times(p2, c1)
		o1, o2 := timesI(times(m1, s1)+times(m2, s2)), timesI(times(m1, s2)-times(m2, s1))
		v[0], v[1], v[2], v[3], v[4] = v[0]+p1+p2, e1-o1, e2-o2, e2+o2, e1+o1
	}
}

func times(a complex128, x float64) complex128 { return complex(real(a)*x, imag(a)*x) }
