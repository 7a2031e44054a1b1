// Products of bytes on arm64, for vec_i8.h: sums over 8 columns at a time, which are
// two groups of weights.

#define DEPTH (2 * GROUP)

#if defined(EARSHOT_I8MM)

// The instruction multiplies two rows of 8 bytes by two columns of 8: a sum is two
// rows by four columns, a row and two columns in each half of a register.
#define TOGETHER 2

typedef struct {
	vi left, right;
} sums;

typedef int8x16_t activations;

typedef struct {
	int8x16_t left, right;
} weights;

#define START(x) ((sums){SPLAT_INT(x), SPLAT_INT(x)})

INLINE weights load_weights(const int8_t *p)
{
	vi a = vreinterpretq_s32_s8(vld1q_s8(p)), b = vreinterpretq_s32_s8(vld1q_s8(p + PANEL * GROUP));
	return (weights){vreinterpretq_s8_s32(vzip1q_s32(a, b)), vreinterpretq_s8_s32(vzip2q_s32(a, b))};
}

INLINE activations load_activations(const int8_t *p, size_t next)
{
	return vcombine_s8(vld1_s8(p), vld1_s8(p + next));
}

INLINE sums dot(sums s, weights w, activations a)
{
	return (sums){vmmlaq_s32(s.left, a, w.left), vmmlaq_s32(s.right, a, w.right)};
}

// Row 0 or 1.
INLINE vi sums_of_row(sums s, int row)
{
	int64x2_t left = vreinterpretq_s64_s32(s.left), right = vreinterpretq_s64_s32(s.right);
	return vreinterpretq_s32_s64(row == 0 ? vzip1q_s64(left, right) : vzip2q_s64(left, right));
}

#elif defined(EARSHOT_DOTPROD)

#define TOGETHER 1

typedef vi sums;
typedef int8x8_t activations;

typedef struct {
	int8x16_t low, high;
} weights;

#define START(x) SPLAT_INT(x)
#define sums_of_row(s, row) (s)

INLINE weights load_weights(const int8_t *p)
{
	return (weights){vld1q_s8(p), vld1q_s8(p + PANEL * GROUP)};
}

INLINE activations load_activations(const int8_t *p, size_t next)
{
	(void)next;
	return vld1_s8(p);
}

INLINE sums dot(sums s, weights w, activations a)
{
	return vdotq_lane_s32(vdotq_lane_s32(s, w.low, a, 0), w.high, a, 1);
}

#else

// A sum of two products, at most 2·128·127, fits 16 bits, so that every second
// multiplication adds for free. The two sums are of the columns' first and last
// pair: half a column in a lane.
#define TOGETHER 1

typedef struct {
	vi left, right;
} sums;

typedef struct {
	int8x16_t low, high;
} activations, weights;

#define START(x) ((sums){SPLAT_INT(x), SPLAT_INT(x)})
#define sums_of_row(s, row) vpaddq_s32((s).left, (s).right)

INLINE weights load_weights(const int8_t *p)
{
	return (weights){vld1q_s8(p), vld1q_s8(p + PANEL * GROUP)};
}

INLINE int8x16_t splat_group(const int8_t *p)
{
	int32_t group;
	memcpy(&group, p, GROUP);
	return vreinterpretq_s8_s32(SPLAT_INT(group));
}

INLINE activations load_activations(const int8_t *p, size_t next)
{
	(void)next;
	return (activations){splat_group(p), splat_group(p + GROUP)};
}

INLINE sums dot(sums s, weights w, activations a)
{
	int16x8_t left = vmull_s8(vget_low_s8(w.low), vget_low_s8(a.low));
	int16x8_t right = vmull_high_s8(w.low, a.low);
	left = vmlal_s8(left, vget_low_s8(w.high), vget_low_s8(a.high));
	right = vmlal_high_s8(right, w.high, a.high);
	return (sums){vpadalq_s16(s.left, left), vpadalq_s16(s.right, right)};
}

#endif
