//go:build amd64

// The int8 kernels for AVX-512 without dot products.

#define EARSHOT_AVX512
#include "gemm_i8.c"
#include "nibbles.c"
#include "peak.c"
#include "quantize_i8.c"
