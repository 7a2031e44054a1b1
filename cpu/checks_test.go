package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// poison stands around everything a kernel must not touch.
const poison = float32(-12345.678)

var (
	nan    = float32(math.NaN())
	inf    = float32(math.Inf(1))
	denorm = math.Float32frombits(7)
)

// check is one kernel over rows.
type check struct {
	name   string
	inputs int // rows that the kernel reads, the first of which it overwrites
	spread float64
	run    func(rows [][]float32)
	// tol is the largest |got-want| in units of max(1,|want|).
	tol float64
}

// checks is the table of the kernels over rows: every tier runs each through the
// exported function and is compared with the generic one.
var checks = []check{
	{"softmax", 1, 4, func(r [][]float32) { SoftmaxF32(r[0]) }, 3e-7},
	{"softmax wide", 1, 60, func(r [][]float32) { SoftmaxF32(r[0]) }, 3e-7},
	{"layer norm", 3, 3, func(r [][]float32) { LayerNormF32(r[0], r[0], r[1], r[2]) }, 3e-6},
	{"gelu", 1, 3, func(r [][]float32) { GeluF32(r[0]) }, 1e-6}, // the bound is in |x|: TestGeluError
	{"gelu small", 1, 1e-3, func(r [][]float32) { GeluF32(r[0]) }, 3e-7},
	{"gelu denormal", 1, 1e-40, func(r [][]float32) { GeluF32(r[0]) }, 0},
	{"add", 2, 3, func(r [][]float32) { AddF32(r[0], r[1]) }, 0},
	{"scale", 1, 3, func(r [][]float32) { ScaleF32(r[0], -0.3) }, 0},
	{"scale denormal", 1, 1e-40, func(r [][]float32) { ScaleF32(r[0], 0.7) }, 0},
	{"log10", 1, 1, func(r [][]float32) { Log10F32(r[0], 1e-10) }, 3e-7},
	{"log10 small", 1, 1e-9, func(r [][]float32) { Log10F32(r[0], 1e-10) }, 3e-7},
	{"sigmoid", 1, 4, func(r [][]float32) { SigmoidF32(r[0]) }, 2e-7},
	{"sigmoid wide", 1, 60, func(r [][]float32) { SigmoidF32(r[0]) }, 2e-7},
	{"relu", 1, 3, func(r [][]float32) { ReluF32(r[0]) }, 0},
	{"log sum exp", 1, 4, func(r [][]float32) { r[0][0] = LogSumExpF32(r[0]) }, 5e-7},
	{"log sum exp wide", 1, 60, func(r [][]float32) { r[0][0] = LogSumExpF32(r[0]) }, 5e-7},
	{"argmax", 1, 3, func(r [][]float32) { r[0][0] = float32(ArgmaxF32(r[0])) }, 0},
	{"argmax ties", 1, 0, func(r [][]float32) { r[0][0] = float32(ArgmaxF32(r[0])) }, 0},
}

// scalar says whether the kernel's result is one number, which takes the first place
// of the row.
func (c check) scalar() bool {
	return strings.HasPrefix(c.name, "argmax") || strings.HasPrefix(c.name, "log sum exp")
}

// use makes tier k the active one until the test ends.
func use(t testing.TB, k *kernels) {
	before := active
	active = k
	t.Cleanup(func() { active = before })
}

// eachTier runs f under every tier of this machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	t.Logf("tiers: %v", Tiers())
	for _, k := range tiers {
		t.Run(k.name, func(t *testing.T) {
			use(t, k)
			f(t)
		})
	}
}

// normals fills x with normally distributed values.
func normals(r *rand.Rand, x []float32, spread float64) {
	for i := range x {
		x[i] = float32(r.NormFloat64() * spread)
	}
}

func TestRows(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, c := range checks {
			t.Run(c.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				for n := range 130 {
					if n == 0 && (c.scalar()) {
						continue // its result has no place; see TestArgmaxNone
					}
					for offset := range 4 {
						rows := make([][]float32, c.inputs)
						for i := range rows {
							rows[i] = make([]float32, n)
							normals(r, rows[i], c.spread)
						}
						want := inPlace(rows, 0, func(rows [][]float32) { withGeneric(func() { c.run(rows) }) })
						got := inPlace(rows, offset, c.run)
						compare(t, fmt.Sprintf("length %d at offset %d", n, offset), got, want, c.tol)
					}
				}
			})
		}
	})
}

// TestSpecials puts every special value at every place of a row.
func TestSpecials(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, c := range checks {
			for _, special := range []float32{nan, inf, -inf, denorm, -denorm, 0, math.MaxFloat32, -math.MaxFloat32} {
				for n := 1; n < 40; n++ {
					for at := range n {
						rows := make([][]float32, c.inputs)
						for i := range rows {
							rows[i] = make([]float32, n)
							normals(rand.New(rand.NewPCG(uint64(n), 3)), rows[i], c.spread)
						}
						if c.name == "layer norm" && math.Abs(float64(special)) == math.MaxFloat32 {
							continue // the variance overflows in float32 and not in the twin
						}
						rows[0][at] = special
						want := inPlace(rows, 0, func(rows [][]float32) { withGeneric(func() { c.run(rows) }) })
						got := inPlace(rows, 1, c.run)
						compare(t, fmt.Sprintf("%s: %v at %d of %d", c.name, special, at, n), got, want, c.tol)
					}
				}
			}
		}
	})
}

func withGeneric(f func()) {
	before := active
	active = &generic
	defer func() { active = before }()
	f()
}

// inPlace runs f over copies of rows that lie at an offset within poison, and
// returns the first one together with the poison around it.
func inPlace(rows [][]float32, offset int, f func(rows [][]float32)) []float32 {
	const margin = 16
	copies := make([][]float32, len(rows))
	var whole []float32
	for i, row := range rows {
		buf := alignedF32(margin + offset + len(row) + margin)
		for j := range buf {
			buf[j] = poison
		}
		copies[i] = buf[margin+offset : margin+offset+len(row)]
		copy(copies[i], row)
		if i == 0 {
			whole = buf[offset:]
		}
	}
	f(copies)
	return whole
}

func compare(t *testing.T, what string, got, want []float32, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		if !near(g, want[i], tol) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, g, want[i])
		}
	}
}

// near tells whether got is want, or within tol·max(1,|want|) of it.
func near(got, want float32, tol float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	return math.Abs(float64(got)-float64(want)) <= tol*max(1, math.Abs(float64(want)))
}

func BenchmarkRows(b *testing.B) {
	for _, k := range tiers {
		for _, c := range checks {
			for _, n := range []int{64, 1500} {
				b.Run(fmt.Sprintf("%s/%s/%d", k.name, c.name, n), func(b *testing.B) {
					use(b, k)
					rows := make([][]float32, c.inputs)
					for i := range rows {
						rows[i] = make([]float32, n)
						normals(rand.New(rand.NewPCG(1, 2)), rows[i], c.spread)
					}
					fresh := slices.Clone(rows[0])
					b.SetBytes(int64(4 * n))
					for b.Loop() {
						copy(rows[0], fresh)
						c.run(rows)
					}
				})
			}
		}
	}
}
