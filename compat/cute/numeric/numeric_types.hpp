// CuTe's header for number types and their widths in bits; with CUTLASS on the include path, also its types
// of 4 and 6 bits.
#pragma once
#include <cute/numeric/int.hpp>
#include <cute/util/print.hpp>
#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/tensor/subbyte.hpp>

#if __has_include_next(<cutlass/float_subbyte.h>)
#include_next <cutlass/numeric_types.h>

namespace zellige {

using cutlass::bits_to_bytes, cutlass::bytes_to_bits;
using cutlass::float_e2m1_t, cutlass::float_e2m3_t, cutlass::float_e3m2_t, cutlass::float_ue4m3_t,
    cutlass::float_ue8m0_t;
using cutlass::type_erased_dynamic_float4_t, cutlass::type_erased_dynamic_float6_t,
    cutlass::type_erased_dynamic_float8_t;
using cutlass::uint256_t;
template <>
struct uint_bit<256> {
  using type = uint256_t;
};
namespace detail {
using cutlass::detail::float_e2m1_unpacksmem_t, cutlass::detail::float_e2m3_unpacksmem_t,
    cutlass::detail::float_e3m2_unpacksmem_t, cutlass::detail::float_e2m3_unpack8bits_t,
    cutlass::detail::float_e3m2_unpack8bits_t, cutlass::detail::type_erased_dynamic_float4_unpacksmem_t,
    cutlass::detail::type_erased_dynamic_float6_unpacksmem_t;
}  // namespace detail

}  // namespace zellige
#else
#include <zellige/atom/float_scale.hpp>
#include <zellige/atom/float_subbyte.hpp>

namespace zellige {

template <class T>
CUTE_HOST_DEVICE constexpr T bits_to_bytes(T bits) {
  return (bits + T(7)) / T(8);
}
template <class T>
CUTE_HOST_DEVICE constexpr T bytes_to_bits(T bytes) {
  return bytes * T(8);
}

}  // namespace zellige
#endif
