// CUTLASS_TRACE_HOST(x): writes x to standard output on the host if CUTLASS_DEBUG_TRACE_LEVEL is not 0.
#pragma once
#if __has_include_next(<cutlass/trace.h>)
#include_next <cutlass/trace.h>
#endif

#if !defined(CUTLASS_DEBUG_TRACE_LEVEL)
#define CUTLASS_DEBUG_TRACE_LEVEL 0
#endif
#if !defined(CUTLASS_TRACE_HOST)
#if CUTLASS_DEBUG_TRACE_LEVEL && !defined(__CUDA_ARCH__)
#include <iostream>
#define CUTLASS_TRACE_HOST(x) \
  { std::cout << __FILE__ << ":" << __LINE__ << "  " << x << std::endl; }
#else
#define CUTLASS_TRACE_HOST(x)
#endif
#endif
