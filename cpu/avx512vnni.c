//go:build amd64

// The int8 product for AVX-512 with dot products.

#define EARSHOT_AVX512
#define EARSHOT_VNNI
#include "gemm_i8.c"
#include "nibbles.c"
#include "peak.c"
