// bfloat16_t. CUTLASS's, if its headers follow on the include path.
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
