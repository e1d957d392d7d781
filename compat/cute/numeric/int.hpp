// CuTe's header for integer types by their width: int_bit_t<N>, uint_bit_t<N>.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/numeric/int.hpp>

namespace zellige {

using CUTE_STL_NAMESPACE::int16_t, CUTE_STL_NAMESPACE::int32_t, CUTE_STL_NAMESPACE::int64_t, CUTE_STL_NAMESPACE::int8_t;
using CUTE_STL_NAMESPACE::uint16_t, CUTE_STL_NAMESPACE::uint32_t, CUTE_STL_NAMESPACE::uint64_t,
    CUTE_STL_NAMESPACE::uint8_t;

template <int N>
using int_byte = int_bit<8 * N>;
template <int N>
using uint_byte = uint_bit<8 * N>;

}  // namespace zellige
