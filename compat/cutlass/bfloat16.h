// CUTLASS's header for bfloat16_t; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/bfloat16.h>)
#include_next <cutlass/bfloat16.h>
#else
#include <cutlass/numeric_types.h>
#endif
