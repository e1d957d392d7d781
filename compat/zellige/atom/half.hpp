// half_t. CUTLASS's, if its headers follow on the include path.
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
