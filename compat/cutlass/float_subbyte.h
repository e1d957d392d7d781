// CUTLASS's header for floats of 4 and 6 bits; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/float_subbyte.h>)
#include_next <cutlass/float_subbyte.h>
#else
#include <cutlass/numeric_types.h>
#endif
