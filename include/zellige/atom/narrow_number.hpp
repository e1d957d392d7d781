// Maps the floats of 4 and 6 bits and the scales of blocks to the enum Number and back, as number_type.hpp does with the other
// types.
#pragma once

#include <zellige/atom/float_scale.hpp>
#include <zellige/atom/float_subbyte.hpp>
#include <zellige/atom/number_type.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {

template <>
inline constexpr bool is_of_several<float_ue8m0_t> = true;
template <>
inline constexpr bool is_of_several<float_ue4m3_t> = true;

namespace detail {

#define ZELLIGE_NUMBER(n, T)      \
  template <>                     \
  struct number_type<Number::n> { \
    using type = T;               \
  };                              \
  template <>                     \
  inline constexpr Number number_of_type<T> = Number::n;
ZELLIGE_NUMBER(e3m2, float_e3m2_t)
ZELLIGE_NUMBER(e2m3, float_e2m3_t)
ZELLIGE_NUMBER(e2m1, float_e2m1_t)
ZELLIGE_NUMBER(ue8m0, float_ue8m0_t)
ZELLIGE_NUMBER(ue4m3, float_ue4m3_t)
#undef ZELLIGE_NUMBER
}  // namespace detail

}  // namespace zellige
