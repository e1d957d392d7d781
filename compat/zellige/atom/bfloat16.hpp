// bfloat16_t. Where CUTLASS's headers stand behind ours on the path, CUTLASS's.
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
