// Declares uint128_t: CUTLASS's type if CUTLASS follows on the include path, else Zellige's.
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
