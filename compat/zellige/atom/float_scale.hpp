// Declares float_ue8m0_t and float_ue4m3_t: CUTLASS's types if CUTLASS follows on the include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/float_subbyte.h>)
#include <cute/numeric/numeric_types.hpp>
#else
#include_next <zellige/atom/float_scale.hpp>
#endif
