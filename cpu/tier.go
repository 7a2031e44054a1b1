package cpu

import "os"

// kernels is one tier: every kernel for one instruction set. Lengths and bounds
// have been checked when one is called, and nothing is empty.
type kernels struct {
	name         string
	gemmF32      func(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n0, n, k int, bias []float32)
	gemmI8       func(dst []float32, ldd int, a []int8, aScales []float32, m int, w *PackedI8, n0, n int, bias []float32)
	quantizeI8   func(dst []int8, scales, x []float32, ldx, m, k int)
	softmaxF32   func(x []float32)
	logSumExpF32 func(x []float32) float32
	layerNormF32 func(dst, x, gamma, beta []float32)
	geluF32      func(x []float32)
	addF32       func(dst, x []float32)
	scaleF32     func(x []float32, s float32)
	argmaxF32    func(x []float32) int

	powerSpectraF32 func(dst []float32, ldd int, x []float32, lda, m int, s *Spectrum)
	log10F32        func(x []float32, floor, log10Floor float32)
	sigmoidF32      func(x []float32)
	reluF32         func(x []float32)

	jobs jobs // the same on the threads of a pool

	// See peak.go. The first two return the operations done in so many turns.
	peakF32, peakI8 func(turns int) int
	peakRead        func(x []float32) float32
}

var generic = kernels{
	name:         "generic",
	gemmF32:      gemmF32Generic,
	gemmI8:       gemmI8Generic,
	quantizeI8:   quantizeI8Generic,
	softmaxF32:   softmaxF32Generic,
	logSumExpF32: logSumExpF32Generic,
	layerNormF32: layerNormF32Generic,
	geluF32:      geluF32Generic,
	addF32:       addF32Generic,
	scaleF32:     scaleF32Generic,
	argmaxF32:    argmaxF32Generic,

	powerSpectraF32: powerSpectraF32Generic,
	log10F32:        log10F32Generic,
	sigmoidF32:      sigmoidF32Generic,
	reluF32:         reluF32Generic,

	jobs: genericJobs,

	peakF32:  peakF32Generic,
	peakI8:   peakI8Generic,
	peakRead: peakReadGeneric,
}

// tiers are the ones this machine can run, the best last.
var tiers = append([]*kernels{&generic}, nativeTiers()...)

// active is the tier in use, chosen once at start: the best one, or the best one
// up to the tier that EARSHOT_CPU names.
var active = pickTier(tiers, os.Getenv("EARSHOT_CPU"))

// pickTier returns the last of the tiers, or the one named mask. A name that this
// machine does not have leaves the choice as it is: it is a higher tier, or none.
func pickTier(tiers []*kernels, mask string) *kernels {
	for _, t := range tiers {
		if t.name == mask {
			return t
		}
	}
	return tiers[len(tiers)-1]
}

// Tier names the instruction set that the kernels use: "generic" (plain Go); on
// amd64 "avx2" (with FMA and F16C), "avx512" (F, BW, DQ and VL) or "avx512vnni" (int8 dot
// products); on arm64 "neon", "dotprod" (int8 dot products, Armv8.2) or "i8mm"
// (products of int8 matrices). The environment variable EARSHOT_CPU, read once at
// start, names the highest tier allowed.
func Tier() string { return active.name }

// Tiers names all tiers that this machine can run in this build, the best last.
func Tiers() []string {
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = t.name
	}
	return names
}
