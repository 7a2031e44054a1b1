//go:build arm64

// The int8 product for Arm's products of matrices of bytes.

// gcc would first put instructions in order as if registers never ended, and then
// keep sums in memory. Processors with these instructions find an order themselves.
#ifndef __clang__
#pragma GCC optimize("no-schedule-insns")
#endif

#define EARSHOT_I8MM
#include "gemm_i8.c"
#include "peak.c"
