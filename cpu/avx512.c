//go:build amd64

// The float32 kernels for AVX-512.

#define EARSHOT_AVX512

#include "gelu_f32.c"
#include "gemm_f32.c"
#include "layernorm_f32.c"
#include "math_f32.c"
#include "softmax_f32.c"
#include "vector_f32.c"
