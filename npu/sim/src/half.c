// half.c: IEEE 754 binary16 to and from float32, to the nearest, of two to the even one;
// beyond ±65504 to infinity.
#include "sim.h"

#include <string.h>

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static float float_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static float to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
	if (magnitude >= 0x7c00) // infinity, NaN
		return float_of(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
	if (magnitude < 0x400) // zero, denormal: units of 2^-24
		return float_of(sign | bits_of((float)magnitude * 0x1p-24f));
	return float_of(sign | (magnitude + (112 << 10)) << 13);
}

static uint16_t to_half(float f)
{
	uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 0x477ff000) // 65520, the first that rounds to infinity
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) // below 2^-14 the addition rounds to units of 2^-24
		return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
	magnitude += 0xfff + (magnitude >> 13 & 1);
	return (uint16_t)(sign | (magnitude - (112u << 23)) >> 13);
}

static void to_floats(const uint16_t *from, float *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = to_float(from[i]);
}

static void to_halves(const float *from, uint16_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = to_half(from[i]);
}

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx,f16c"))) static size_t fast_to_floats(const uint16_t *from, float *to, size_t n)
{
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
	return i;
}

__attribute__((target("avx,f16c"))) static size_t fast_to_halves(const float *from, uint16_t *to, size_t n)
{
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		_mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
	return i;
}

static bool fast(void) { return __builtin_cpu_supports("avx2"); } // every such processor has F16C
#elif defined __aarch64__
static size_t fast_to_floats(const uint16_t *from, float *to, size_t n)
{
	const __fp16 *h = (const __fp16 *)from;
	for (size_t i = 0; i < n; i++)
		to[i] = (float)h[i];
	return n;
}

static size_t fast_to_halves(const float *from, uint16_t *to, size_t n)
{
	__fp16 *h = (__fp16 *)to;
	for (size_t i = 0; i < n; i++)
		h[i] = (__fp16)from[i];
	return n;
}

static bool fast(void) { return true; }
#else
static size_t fast_to_floats(const uint16_t *from, float *to, size_t n) { return 0; }
static size_t fast_to_halves(const float *from, uint16_t *to, size_t n) { return 0; }
static bool fast(void) { return false; }
#endif

void half_to_float(const uint16_t *from, float *to, size_t n)
{
	size_t done = fast() ? fast_to_floats(from, to, n) : 0;
	to_floats(from + done, to + done, n - done);
}

void float_to_half(const float *from, uint16_t *to, size_t n)
{
	size_t done = fast() ? fast_to_halves(from, to, n) : 0;
	to_halves(from + done, to + done, n - done);
}
