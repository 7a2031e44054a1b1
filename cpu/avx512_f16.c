//go:build amd64

// The product of float16 weights for AVX-512; apart from avx512.c, which has the same
// tiles of float32 ones.

#define EARSHOT_AVX512
#include "gemm_f16.c"
