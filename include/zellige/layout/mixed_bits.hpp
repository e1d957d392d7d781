// Defines MixedBits<S, F>: an unsigned number of which some bits are known at compile time. The bits under mask S are
// 1, the bits under mask F are known only at run time, and all other bits are 0.
//
//   to_mixed_bits(Layout<Shape<_8, _8>, Stride<_8, _1>>{}, make_coord(i, _3{}))
//     is  i << 3 | 3: the low bits are known
//
// The operators &, |, ^ and shifts by a static number keep track of which bits are known.
#pragma once
#include <zellige/layout/coordinate.hpp>

namespace zellige {

template <unsigned S, unsigned F>
struct MixedBits {
  static_assert(F != 0, "MixedBits<S, F>: a number without run-time bits is an Int");
  static_assert((S & F) == 0, "MixedBits<S, F>: a bit is static or run-time, not both");
  unsigned dynamic_int_;
  ZELLIGE_HOST_DEVICE constexpr operator unsigned() const noexcept { return S | dynamic_int_; }
};

template <class T>
inline constexpr bool is_mixed_bits_v = false;
template <unsigned S, unsigned F>
inline constexpr bool is_mixed_bits_v<MixedBits<S, F>> = true;

/// Returns the number that has the bits of s, and those bits of d that are under mask f but not in s. The
/// result is a static number if it has no run-time bit, else a MixedBits.
template <auto s, integral D, auto f>
ZELLIGE_HOST_DEVICE constexpr auto make_mixed_bits(C<s>, D const& d, C<f>) {
  constexpr unsigned open = unsigned(f) & ~unsigned(s);
  if constexpr (open == 0 || is_static_integer_v<D>)
    return C<s>{} | (d & C<open>{});
  else
    return MixedBits<unsigned(s), open>{unsigned(d) & open};
}

namespace detail {
// The known and run-time bits of a MixedBits or a static number.
template <class T>
struct known_bits;
template <unsigned S, unsigned F>
struct known_bits<MixedBits<S, F>> {
  static constexpr unsigned ones = S, open = F;
  ZELLIGE_HOST_DEVICE static constexpr unsigned value(MixedBits<S, F> const& m) { return m.dynamic_int_; }
};
template <auto v>
struct known_bits<C<v>> {
  static constexpr unsigned ones = unsigned(v), open = 0;
  ZELLIGE_HOST_DEVICE static constexpr unsigned value(C<v>) { return 0; }
};
template <class T, class U>
concept mixed_pair = (is_mixed_bits_v<T> && (is_mixed_bits_v<U> || is_static_integer_v<U>)) ||
                     (is_static_integer_v<T> && is_mixed_bits_v<U>);
}  // namespace detail

// Bitwise and, or, xor. A bit of the result is static where both operands determine it: for and, 1 if both
// are 1, 0 if either is 0.
template <class T, class U>
requires detail::mixed_pair<T, U> ZELLIGE_HOST_DEVICE constexpr auto operator&(T const& a, U const& b) {
  using A = detail::known_bits<T>;
  using B = detail::known_bits<U>;
  constexpr unsigned open = (A::open & B::open) | (A::open & B::ones) | (A::ones & B::open);
  return make_mixed_bits(C<(A::ones & B::ones)>{}, (A::ones | A::value(a)) & (B::ones | B::value(b)), C<open>{});
}
template <class T, class U>
requires detail::mixed_pair<T, U> ZELLIGE_HOST_DEVICE constexpr auto operator|(T const& a, U const& b) {
  using A = detail::known_bits<T>;
  using B = detail::known_bits<U>;
  return make_mixed_bits(C<(A::ones | B::ones)>{}, A::value(a) | B::value(b), C<(A::open | B::open)>{});
}
template <class T, class U>
requires detail::mixed_pair<T, U> ZELLIGE_HOST_DEVICE constexpr auto operator^(T const& a, U const& b) {
  using A = detail::known_bits<T>;
  using B = detail::known_bits<U>;
  constexpr unsigned open = A::open | B::open;
  return make_mixed_bits(C<((A::ones ^ B::ones) & ~open)>{}, (A::ones | A::value(a)) ^ (B::ones | B::value(b)),
                         C<open>{});
}
template <unsigned S, unsigned F, auto v>
ZELLIGE_HOST_DEVICE constexpr bool operator==(MixedBits<S, F> const& m, C<v>) {
  return S == (unsigned(v) & ~F) && m.dynamic_int_ == (unsigned(v) & F);
}
template <unsigned S, unsigned F, auto n>
ZELLIGE_HOST_DEVICE constexpr auto operator<<(MixedBits<S, F> const& m, C<n>) {
  return make_mixed_bits(C<(S << n)>{}, m.dynamic_int_ << n, C<(F << n)>{});
}
template <unsigned S, unsigned F, auto n>
ZELLIGE_HOST_DEVICE constexpr auto operator>>(MixedBits<S, F> const& m, C<n>) {
  return make_mixed_bits(C<(S >> n)>{}, m.dynamic_int_ >> n, C<(F >> n)>{});
}
template <unsigned S, unsigned F, auto n>
ZELLIGE_HOST_DEVICE constexpr auto shiftl(MixedBits<S, F> const& m, C<n>) {
  if constexpr (n >= 0)
    return m << C<n>{};
  else
    return m >> C<-n>{};
}
template <unsigned S, unsigned F, auto n>
ZELLIGE_HOST_DEVICE constexpr auto shiftr(MixedBits<S, F> const& m, C<n>) {
  return shiftl(m, C<-n>{});
}

namespace detail {
template <auto n>
ZELLIGE_HOST_DEVICE constexpr auto exponent(C<n>) {
  static_assert(n > 0 && (n & (n - 1)) == 0, "MixedBits are multiplied and divided by powers of two only");
  return log_2(C<n>{});
}
}  // namespace detail
template <unsigned S, unsigned F, auto n>
ZELLIGE_HOST_DEVICE constexpr auto safe_div(MixedBits<S, F> const& m, C<n>) {
  static_assert(((S | F) & unsigned(n - 1)) == 0, "safe_div: the number may have bits below the divisor");
  return m >> detail::exponent(C<n>{});
}
/// Returns the offset m in units of elements N times as large: m divided by N, a power of two. N must divide
/// m.
template <unsigned N, unsigned S, unsigned F>
ZELLIGE_HOST_DEVICE constexpr auto upcast(MixedBits<S, F> const& m) {
  return safe_div(m, Int<int(N)>{});
}
/// Returns the offset m in units of elements N times as small: m multiplied by N, a power of two.
template <unsigned N, unsigned S, unsigned F>
ZELLIGE_HOST_DEVICE constexpr auto downcast(MixedBits<S, F> const& m) {
  return m << detail::exponent(Int<int(N)>{});
}
/// Returns the largest power of two that divides the number, whatever the values of its run-time bits are.
template <unsigned S, unsigned F>
ZELLIGE_HOST_DEVICE constexpr auto max_alignment(MixedBits<S, F> const&) {
  return C<((S | F) & (0u - (S | F)))>{};
}

/// Returns the index of a coordinate in the layout shape:stride, as a MixedBits or a static number. Extent
/// times stride of each mode must be a power of two.
template <class S, class D, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto to_mixed_bits(S const& shape, D const& stride, Crd const& crd);
namespace detail {
template <class S, class D, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr auto mixed_bits_of(S const& shape, D const& stride, Crd const& crd, seq<I...>) {
  return (to_mixed_bits(get<I>(shape), get<I>(stride), get<I>(crd)) ^ ...);
}
}  // namespace detail
template <class S, class D, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto to_mixed_bits(S const& shape, D const& stride, Crd const& crd) {
  if constexpr (tuple_like<S>) {
    static_assert(tuple_like<D> && tuple_like<Crd>,
                  "to_mixed_bits: shape, stride and coordinate must have one profile");
    detail::require_one_rank<S, D, Crd>();
    return detail::mixed_bits_of(shape, stride, crd, tuple_seq<S>{});
  } else {
    static_assert(integral<S> && integral<D> && integral<Crd>,
                  "to_mixed_bits: shape, stride and coordinate must have one profile");
    static_assert(decltype(shape * stride)::value == 0 || decltype(has_single_bit(shape * stride))::value,
                  "to_mixed_bits: shape times stride must be a power of two");
    return make_mixed_bits(Int<0>{}, crd * stride, (shape - Int<1>{}) * stride);
  }
}
/// Returns the index of a coordinate or linear coordinate in a layout, as a MixedBits or a static number.
/// Extent times stride of each mode must be a power of two.
template <class L, class Crd>
requires requires { L::layout_tag; }
ZELLIGE_HOST_DEVICE constexpr auto to_mixed_bits(L const& layout, Crd const& crd) {
  return to_mixed_bits(layout.shape(), layout.stride(), idx2crd(crd, layout.shape()));
}

}  // namespace zellige
