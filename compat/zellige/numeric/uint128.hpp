// uint128_t. Where CUTLASS's headers stand behind ours on the path, CUTLASS's.
#pragma once
#if __has_include_next(<cutlass/uint128.h>)
#include_next <cutlass/uint128.h>

#include <cute/config.hpp>

namespace zellige {
using cutlass::uint128_t;
}  // namespace zellige
#else
#include_next <zellige/numeric/uint128.hpp>
#endif
