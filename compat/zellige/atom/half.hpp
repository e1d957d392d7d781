// Declares half_t: CUTLASS's type if CUTLASS follows on the include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/half.h>)
#include_next <cutlass/half.h>

#include <cute/config.hpp>
#include <zellige/atom/config.hpp>

namespace zellige {
using cutlass::half_t;
}  // namespace zellige
#else
#include_next <zellige/atom/half.hpp>
#endif
