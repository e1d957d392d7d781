// CUTLASS's header for float_e4m3_t and float_e5m2_t; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/float8.h>)
#include_next <cutlass/float8.h>
#else
#include <cutlass/numeric_types.h>
#endif
