//go:build arm64

// The int8 product for Arm's dot product instructions.

#define EARSHOT_DOTPROD
#include "gemm_i8.c"
#include "nibbles.c"
#include "peak.c"
