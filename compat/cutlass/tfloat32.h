// CUTLASS's header for tfloat32_t; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/tfloat32.h>)
#include_next <cutlass/tfloat32.h>
#else
#include <cutlass/numeric_types.h>
#endif
