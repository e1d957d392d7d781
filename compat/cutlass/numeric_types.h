// CUTLASS's header for number types: Zellige's types under CUTLASS's names.
#pragma once
#if __has_include_next(<cutlass/numeric_types.h>)
#include_next <cutlass/numeric_types.h>
#else
#include <cute/numeric/numeric_types.hpp>
#include <cutlass/detail/helper_macros.hpp>

namespace cutlass {

using zellige::bfloat16_t;
using zellige::bin1_t;
using zellige::bits_to_bytes;
using zellige::bytes_to_bits;
using zellige::float_e2m1_t;
using zellige::float_e2m3_t;
using zellige::float_e3m2_t;
using zellige::float_e4m3_t;
using zellige::float_e5m2_t;
using zellige::float_ue4m3_t;
using zellige::float_ue8m0_t;
using zellige::half_t;
using zellige::int2b_t;
using zellige::int4b_t;
using zellige::integer_subbyte;
using zellige::is_subbyte;
using zellige::sizeof_bits;
using zellige::tfloat32_t;
using zellige::uint128_t;
using zellige::uint1b_t;
using zellige::uint2b_t;
using zellige::uint4b_t;
using zellige::uint6b_t;

}  // namespace cutlass
#endif
