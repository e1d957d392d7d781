// CUTLASS's header for half_t; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/half.h>)
#include_next <cutlass/half.h>
#else
#include <cutlass/numeric_types.h>
#endif
