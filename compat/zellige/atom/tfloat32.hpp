// tfloat32_t. Where CUTLASS's headers stand behind ours on the path, CUTLASS's.
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
