// tfloat32_t. CUTLASS's, if its headers follow on the include path.
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
