// Declares integers smaller than a byte: CUTLASS's types, with their sizes in bits, if CUTLASS follows on the
// include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/integer_subbyte.h>)
#include_next <cutlass/integer_subbyte.h>
#include_next <cutlass/numeric_size.h>

#include <cute/config.hpp>
#include <zellige/layout/algebra.hpp>

namespace zellige {

using cutlass::bin1_t, cutlass::uint1b_t, cutlass::int2b_t, cutlass::uint2b_t, cutlass::int4b_t, cutlass::uint4b_t,
    cutlass::int6b_t, cutlass::uint6b_t, cutlass::integer_subbyte;

/// Takes the sizes of sub-byte types from CUTLASS's sizeof_bits.
template <class T>
requires(sizeof(T) > 0 && cutlass::sizeof_bits<T>::value != 8 * sizeof(T)) struct sizeof_bits<T>
    : Int<int(cutlass::sizeof_bits<T>::value)> {
};

}  // namespace zellige
#else
#include_next <zellige/numeric/integer_subbyte.hpp>
#endif
