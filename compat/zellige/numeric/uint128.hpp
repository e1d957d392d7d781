// uint128_t. CUTLASS's, if its headers follow on the include path.
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
