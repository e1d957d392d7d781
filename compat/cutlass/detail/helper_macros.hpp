// CUTLASS's macros for function annotations, loop unrolling and assertions.
#pragma once
#if __has_include_next(<cutlass/detail/helper_macros.hpp>)
#include_next <cutlass/detail/helper_macros.hpp>
#else
#include <cute/config.hpp>

#if !defined(CUTLASS_HOST_DEVICE)
#define CUTLASS_HOST_DEVICE CUTE_HOST_DEVICE
#endif
#if !defined(CUTLASS_DEVICE)
#define CUTLASS_DEVICE CUTE_DEVICE
#endif
#if !defined(CUTLASS_HOST)
#define CUTLASS_HOST CUTE_HOST
#endif
#if !defined(CUTLASS_GLOBAL) && defined(__CUDACC__)
#define CUTLASS_GLOBAL __global__ static
#endif
#if !defined(CUTLASS_PRAGMA_UNROLL)
#define CUTLASS_PRAGMA_UNROLL CUTE_UNROLL
#define CUTLASS_PRAGMA_NO_UNROLL CUTE_NO_UNROLL
#endif
#if !defined(CUTLASS_GEMM_LOOP)
#define CUTLASS_GEMM_LOOP CUTE_NO_UNROLL
#endif
#if !defined(CUTLASS_GRID_CONSTANT)
#define CUTLASS_GRID_CONSTANT CUTE_GRID_CONSTANT
#endif
#if !defined(CUTLASS_ASSERT)
#define CUTLASS_ASSERT(x) assert(x)
#endif
#if !defined(CUTLASS_UNUSED)
#define CUTLASS_UNUSED(x) ((void)(x))
#endif
#endif
