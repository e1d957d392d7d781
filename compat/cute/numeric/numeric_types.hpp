// The number types, and how many bits they have.
#pragma once
#include <cute/numeric/int.hpp>
#include <cute/util/print.hpp>
#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/tensor/subbyte.hpp>

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
