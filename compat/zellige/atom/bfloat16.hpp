// Declares bfloat16_t: CUTLASS's type if CUTLASS follows on the include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/bfloat16.h>)
#include_next <cutlass/bfloat16.h>

#include <cute/config.hpp>
#include <zellige/atom/config.hpp>

namespace zellige {
using cutlass::bfloat16_t;
}  // namespace zellige
#else
#include_next <zellige/atom/bfloat16.hpp>
#endif
