// Declares float_e2m1_t, float_e2m3_t and float_e3m2_t: CUTLASS's types if CUTLASS follows on the include path, else
// Zellige's.
#pragma once
#if __has_include_next(<cutlass/float_subbyte.h>)
#include <cute/numeric/numeric_types.hpp>
#else
#include_next <zellige/atom/float_subbyte.hpp>
#endif
