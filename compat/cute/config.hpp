// CuTe's macros, and the name `cute` for Zellige's namespace. Every header in this folder includes this one
// first.
//
// In a translation unit that includes this header, `cute` is a macro for `zellige`. So cute::Layout is
// zellige::Layout, and `using namespace cute` makes Zellige's names visible. A `namespace cute {` that user
// code opens, to specialise a trait or overload a function, opens namespace zellige. A namespace alias cannot
// be reopened. A separate namespace with a using-directive would not work either: templates could not be
// specialised in it, argument-dependent lookup would not find its functions, and new overloads would hide
// Zellige's. `#include <cute/...>` is not affected, since macros are not expanded in header names.
#pragma once
#define cute zellige

#include <zellige/layout/config.hpp>

#if defined(__CUDACC_RTC__)
#define CUTE_STL_NAMESPACE cuda::std
#define CUTE_STL_NAMESPACE_IS_CUDA_STD
#include <cuda/std/cassert>
#include <cuda/std/cstdint>
#else
#define CUTE_STL_NAMESPACE std
#include <cassert>
#include <cstdint>
#include <cstdio>
// CuTe code relies on these two standard headers without including them. They take most of this header's
// compile time.
#if !defined(ZELLIGE_CUTE_WITHOUT_STREAMS)
#include <iomanip>
#include <iostream>
#endif
#endif

// Annotations of host and device functions.
#if defined(__CUDACC__) || defined(_NVHPC_CUDA)
#define CUTE_HOST_DEVICE __forceinline__ __host__ __device__
#define CUTE_DEVICE __forceinline__ __device__
#define CUTE_HOST __forceinline__ __host__
#else
#define CUTE_HOST_DEVICE inline
#define CUTE_DEVICE inline
#define CUTE_HOST inline
#endif
#if defined(__CUDACC_RTC__)
#define CUTE_HOST_RTC CUTE_HOST_DEVICE
#else
#define CUTE_HOST_RTC CUTE_HOST
#endif

// Unrolling of loops.
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__) || defined(__clang__)
#define CUTE_UNROLL _Pragma("unroll")
#define CUTE_NO_UNROLL _Pragma("unroll 1")
#else
#define CUTE_UNROLL
#define CUTE_NO_UNROLL
#endif

// Constants, and parameters of kernels.
#if defined(__CUDA_ARCH__) || defined(_NVHPC_CUDA)
#define CUTE_INLINE_CONSTANT static const __device__
#else
#define CUTE_INLINE_CONSTANT static constexpr
#endif
#if defined(__CUDACC__)
#define CUTE_GRID_CONSTANT_SUPPORTED
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define CUTE_GRID_CONSTANT_ENABLED
#endif
#if !defined(CUTE_GRID_CONSTANT)
#if defined(CUTE_GRID_CONSTANT_SUPPORTED) && defined(CUTE_GRID_CONSTANT_ENABLED)
#define CUTE_GRID_CONSTANT __grid_constant__
#else
#define CUTE_GRID_CONSTANT
#endif
#endif

// Assertions, static and at run time.
#define CUTE_STATIC_V(x) decltype(x)::value
#define CUTE_STATIC_ASSERT static_assert
#define CUTE_STATIC_ASSERT_V(x, ...) static_assert(decltype(x)::value __VA_OPT__(, ) __VA_ARGS__)
#define CUTE_RUNTIME_ASSERT(x) assert(x)
#if !defined(CUTE_GCC_UNREACHABLE)
#if defined(__GNUC__) || defined(__clang__)
#define CUTE_GCC_UNREACHABLE __builtin_unreachable()
#else
#define CUTE_GCC_UNREACHABLE
#endif
#endif
#if defined(__CUDA_ARCH__)
#define CUTE_INVALID_CONTROL_PATH(x) \
  assert(0 && x);                    \
  printf(x);                         \
  __brkpt()
#else
#define CUTE_INVALID_CONTROL_PATH(x) \
  assert(0 && x);                    \
  printf(x)
#endif

// Zellige's tuple is the packed one; with this macro, code need not distinguish CuTe's two tuples.
#if !defined(CUTLASS_USE_PACKED_TUPLE)
#define CUTLASS_USE_PACKED_TUPLE 1
#endif

#include <cute/util/debug.hpp>
