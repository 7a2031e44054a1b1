//go:build amd64

// The spectra for AVX-512; apart from avx512.c, since both have tiles of ROWS.

#define EARSHOT_AVX512

#include "spectrum_f32.c"
