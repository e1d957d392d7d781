// Declares tfloat32_t: CUTLASS's type if CUTLASS follows on the include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/tfloat32.h>)
#include_next <cutlass/tfloat32.h>

#include <cute/config.hpp>
#include <zellige/atom/config.hpp>

namespace zellige {
using cutlass::tfloat32_t;
}  // namespace zellige
#else
#include_next <zellige/atom/tfloat32.hpp>
#endif
