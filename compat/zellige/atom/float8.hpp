// Declares float_e4m3_t and float_e5m2_t: CUTLASS's types if CUTLASS follows on the include path, else
// Zellige's.
#pragma once
#if __has_include_next(<cutlass/float8.h>)
#include_next <cutlass/float8.h>

#include <cute/config.hpp>
#include <zellige/atom/config.hpp>

namespace zellige {
using cutlass::float_e4m3_t, cutlass::float_e5m2_t;
}  // namespace zellige
#else
#include_next <zellige/atom/float8.hpp>
#endif
