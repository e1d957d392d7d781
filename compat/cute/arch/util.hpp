// Converts addresses and arrays to operands of instructions.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/numeric/integer_sequence.hpp>

namespace zellige {

/// Returns the 32-bit shared-memory address of a pointer; 0 on the host.
CUTE_HOST_DEVICE unsigned cast_smem_ptr_to_uint([[maybe_unused]] void const* pointer) {
#if defined(__CUDA_ARCH__)
  return unsigned(__cvta_generic_to_shared(pointer));
#else
  return 0;
#endif
}

namespace detail {

/// Function object that calls Op::fma. CallCOPY calls Op::copy.
template <class Op>
struct CallFMA {
  template <class... A>
  CUTE_HOST_DEVICE constexpr void operator()(A&&... a) const {
    return Op::fma(static_cast<A&&>(a)...);
  }
};
template <class Op>
struct CallCOPY {
  template <class... A>
  CUTE_HOST_DEVICE constexpr void operator()(A&&... a) const {
    return Op::copy(static_cast<A&&>(a)...);
  }
};

/// Calls f with array elements as separate arguments (registers): explode(f, a, int_sequence<0, 1>{}, b,
/// int_sequence<3>{}) is f(a[0], a[1], b[3]).
template <class F>
CUTE_HOST_DEVICE constexpr void explode(F const& f) {
  f();
}
template <class F, class A, int... I, class... More>
CUTE_HOST_DEVICE constexpr void explode(F const& f, A&& a, int_sequence<I...>, More&&... more) {
  explode([&](auto&&... last) { f(a[I]..., last...); }, more...);
}
/// Calls f with the selected elements of one to three tuples as separate arguments: f(get<I>(a)...,
/// get<J>(b)...).
template <class F, class A, int... I>
CUTE_HOST_DEVICE constexpr void explode_tuple(F const& f, A&& a, int_sequence<I...>) {
  f(get<I>(a)...);
}
template <class F, class A, int... I, class B, int... J>
CUTE_HOST_DEVICE constexpr void explode_tuple(F const& f, A&& a, int_sequence<I...>, B&& b, int_sequence<J...>) {
  f(get<I>(a)..., get<J>(b)...);
}
template <class F, class A, int... I, class B, int... J, class C, int... K>
CUTE_HOST_DEVICE constexpr void explode_tuple(F const& f, A&& a, int_sequence<I...>, B&& b, int_sequence<J...>, C&& c,
                                              int_sequence<K...>) {
  f(get<I>(a)..., get<J>(b)..., get<K>(c)...);
}

}  // namespace detail
}  // namespace zellige
