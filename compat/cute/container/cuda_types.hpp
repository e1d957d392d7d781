// Makes CUDA's dim3 and uint3 usable as tuples, if CUDA is available.
#pragma once
#include <cute/util/type_traits.hpp>

// The emulator has a dim3 of its own and does not use CUDA's header.
#if !defined(ZELLIGE_EMULATE) && (defined(__CUDACC__) || __has_include(<cuda_runtime_api.h>))

namespace zellige {

using ::dim3;
using ::uint3;

namespace detail {
template <class T>
struct three_numbers {
  static constexpr int size = 3;
  template <int I>
  using element = unsigned;
  template <int I, class U>
  CUTE_HOST_DEVICE static constexpr auto& get(U&& t) {
    static_assert(0 <= I && I < 3, "get<I>: dim3 and uint3 have modes 0, 1 and 2");
    if constexpr (I == 0)
      return t.x;
    else if constexpr (I == 1)
      return t.y;
    else
      return t.z;
  }
};
}  // namespace detail
template <>
struct foreign_tuple<dim3> : detail::three_numbers<dim3> {};
template <>
struct foreign_tuple<uint3> : detail::three_numbers<uint3> {};

}  // namespace zellige

#endif
