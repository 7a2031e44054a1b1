//go:build amd64 || arm64

// dst[i*ldd+k] = |Σ_{j<n} window[j]·x[i*lda+j]·e^(−2πi·jk/n)|²   for i < m, k <= n/2
//
// n is even and at most 512, n/2 a product of twos and fives; turns[k] = e^(−2πi·k/n)
// for k < n. window holds halves of the weights.
//
// Every vector holds one value of several rows: all lanes do the same, and a row's
// result does not depend on its neighbours. The sums are double: with float32 ones, the
// bands of a log-mel spectrum 70 dB below a tone are off by 3e-5 instead of 1e-7.

#include "kernels.h"
#include "vec_f32.h"

#define ROWS (LANES / 2)
#define MOST_HALF 256

typedef double vd __attribute__((vector_size(ROWS * sizeof(double))));
typedef struct { vd re, im; } vc;
typedef struct { double re, im; } turn;

INLINE vc plus(vc a, vc b) { return (vc){a.re + b.re, a.im + b.im}; }
INLINE vc minus(vc a, vc b) { return (vc){a.re - b.re, a.im - b.im}; }
INLINE vc times(vc a, double x) { return (vc){a.re * x, a.im * x}; }
INLINE vc times_i(vc a) { return (vc){-a.im, a.re}; }
INLINE vc turned(vc a, turn t) { return (vc){a.re * t.re - a.im * t.im, a.re * t.im + a.im * t.re}; }

// The transforms of r values each, in place.
INLINE void transform2(vc *a)
{
	const vc b = a[1];
	a[1] = minus(a[0], b);
	a[0] = plus(a[0], b);
}

INLINE void transform4(vc *a)
{
	const vc s0 = plus(a[0], a[2]), d0 = minus(a[0], a[2]);
	const vc s1 = plus(a[1], a[3]), d1 = times_i(minus(a[1], a[3]));
	a[0] = plus(s0, s1);
	a[1] = minus(d0, d1);
	a[2] = minus(s0, s1);
	a[3] = plus(d0, d1);
}

INLINE void transform5(vc *a)
{
	const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410; // cos 2π/5, cos 4π/5
	const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917; // sin 2π/5, sin 4π/5
	const vc p1 = plus(a[1], a[4]), p2 = plus(a[2], a[3]);
	const vc m1 = minus(a[1], a[4]), m2 = minus(a[2], a[3]);
	const vc e1 = plus(a[0], plus(times(p1, c1), times(p2, c2)));
	const vc e2 = plus(a[0], plus(times(p1, c2), times(p2, c1)));
	const vc o1 = times_i(plus(times(m1, s1), times(m2, s2)));
	const vc o2 = times_i(minus(times(m1, s2), times(m2, s1)));
	a[0] = plus(a[0], plus(p1, p2));
	a[1] = minus(e1, o1);
	a[2] = minus(e2, o2);
	a[3] = plus(e2, o2);
	a[4] = plus(e1, o1);
}

// One pass of Stockham's transform (C. Van Loan, "Computational Frameworks for the
// Fast Fourier Transform", 1992, section 1.7), which needs no reordering: from holds
// `stride` interleaved sequences of `left` values, to gets r·stride of left/r.
INLINE void pass(const size_t r, void transform(vc *), vc *to, const vc *from, size_t left, size_t stride,
                 const turn *turns)
{
	const size_t part = left / r;

	for (size_t p = 0; p < part; p++) {
		const turn *t = turns; // turns[2·stride·p·j] by j
		for (size_t q = 0; q < stride; q++) {
			vc a[5];
#pragma GCC unroll 5
			for (size_t j = 0; j < r; j++)
				a[j] = from[q + stride * (p + part * j)];
			transform(a);
			to[q + stride * r * p] = a[0];
#pragma GCC unroll 5
			for (size_t j = 1; j < r; j++)
				to[q + stride * (r * p + j)] = turned(a[j], t[2 * stride * p * j]);
		}
	}
}

TARGET static void pass2(vc *to, const vc *from, size_t left, size_t stride, const turn *turns)
{
	pass(2, transform2, to, from, left, stride, turns);
}

TARGET static void pass4(vc *to, const vc *from, size_t left, size_t stride, const turn *turns)
{
	pass(4, transform4, to, from, left, stride, turns);
}

TARGET static void pass5(vc *to, const vc *from, size_t left, size_t stride, const turn *turns)
{
	pass(5, transform5, to, from, left, stride, turns);
}

// The transform of half values in a, by way of b; returns where it is.
static vc *transform(vc *a, vc *b, size_t half, const turn *turns)
{
	for (size_t left = half, stride = 1, r; left > 1; left /= r, stride *= r) {
		r = left % 5 == 0 ? 5 : left % 4 == 0 ? 4 : 2;
		(r == 5 ? pass5 : r == 4 ? pass4 : pass2)(b, a, left, stride, turns);
		vc *swap = a;
		a = b, b = swap;
	}
	return a;
}

INLINE vd square(vc a) { return a.re * a.re + a.im * a.im; }

// Even samples were the real and odd ones the imaginary parts of z: the lines k and
// half−k of the whole are E ∓ i·turn·O with E, O = z[k] ± conj z[half−k].
TARGET static void split(vd *power, const vc *z, size_t half, const turn *turns)
{
	for (size_t k = 0; k <= half / 2; k++) {
		const vc a = z[k], b = z[k ? half - k : 0], mirrored = {b.re, -b.im};
		const vc even = plus(a, mirrored), odd = times_i(turned(minus(a, mirrored), turns[k]));
		power[k] = square(minus(even, odd));
		power[half - k] = square(plus(even, odd));
	}
}

TARGET static void spectra(float *dst, size_t ldd, const float *x, size_t lda, size_t rows, size_t n,
                           const double *window, const turn *turns)
{
	vc a[MOST_HALF + 1], b[MOST_HALF + 1];

	for (size_t i = 0; i < ROWS; i++) {
		const float *row = x + (i < rows ? i : 0) * lda;
		for (size_t j = 0; j < n; j++)
			((double *)a)[j * ROWS + i] = row[j] * window[j];
	}
	const vc *z = transform(a, b, n / 2, turns);
	vd *power = (vd *)(z == a ? b : a);
	split(power, z, n / 2, turns);
	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k <= n / 2; k++)
			dst[i * ldd + k] = ((double *)power)[k * ROWS + i];
}

void TIER(power_spectra_f32)(float *dst, size_t ldd, const float *x, size_t lda, size_t m, size_t n,
                             const double *window, const double *turns)
{
	for (size_t i = 0; i < m; i += ROWS)
		spectra(dst + i * ldd, ldd, x + i * lda, lda, m - i < ROWS ? m - i : ROWS, n, window,
		        (const turn *)turns);
}
