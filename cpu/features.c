//go:build amd64 || arm64

#include "kernels.h"

#if defined(__x86_64__)

int has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#endif
