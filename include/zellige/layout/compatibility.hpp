// Compares layouts by their shapes (congruent, weakly_congruent, compatible), and checks whether a tiler divides a
// layout without partial tiles (evenly_divides).
#pragma once
#include <zellige/layout/modes.hpp>

namespace zellige {

template <class A, class B>
using is_congruent = decltype(congruent(*static_cast<remove_cvref_t<A> const*>(nullptr),
                                        *static_cast<remove_cvref_t<B> const*>(nullptr)));
template <class A, class B>
using is_weakly_congruent = decltype(weakly_congruent(*static_cast<remove_cvref_t<A> const*>(nullptr),
                                                      *static_cast<remove_cvref_t<B> const*>(nullptr)));
template <class A, class B>
using is_compatible = decltype(compatible(*static_cast<remove_cvref_t<A> const*>(nullptr),
                                          *static_cast<remove_cvref_t<B> const*>(nullptr)));

namespace detail {
template <class A, class B>
concept a_layout_among = (layout_like<A> || layout_like<B>)&&(layout_like<A> || int_tuple<A>)&&(layout_like<B> ||
                                                                                                int_tuple<B>);
// True if T is a layout, or a tuple with a layout at any depth.
template <class T>
inline constexpr bool holds_layout_v = layout_like<T>;
template <class... T>
inline constexpr bool holds_layout_v<tuple<T...>> = (holds_layout_v<T> || ...);
template <class A, class B>
concept layout_or_tiler_among = layout_like<A> || holds_layout_v<B> || has_underscore_v<B>;
}  // namespace detail

template <class A, class B>
requires detail::a_layout_among<A, B> ZELLIGE_HOST_DEVICE constexpr auto congruent(A const& a, B const& b) {
  return congruent(shape(a), shape(b));
}
template <class A, class B>
requires detail::a_layout_among<A, B> ZELLIGE_HOST_DEVICE constexpr auto weakly_congruent(A const& a, B const& b) {
  return weakly_congruent(shape(a), shape(b));
}
/// Returns true if every coordinate of a is also a coordinate of b: the profile of b refines that of a, and
/// each leaf of a's shape is the size of the corresponding mode of b.
template <class A, class B>
requires detail::a_layout_among<A, B> ZELLIGE_HOST_DEVICE constexpr auto compatible(A const& a, B const& b) {
  return compatible(shape(a), shape(b));
}

template <class A, class B>
requires detail::layout_or_tiler_among<A, B> ZELLIGE_HOST_DEVICE constexpr auto evenly_divides(A const& a, B const& b);
namespace detail {
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto evenly_divides_modes(A const& a, B const& b, seq<I...>) {
  return (true_type{} && ... && evenly_divides(get<I>(a), get<I>(b)));
}
}  // namespace detail
template <int_tuple A, int_tuple B>
requires(!detail::layout_or_tiler_among<A, B>) ZELLIGE_HOST_DEVICE
    constexpr auto evenly_divides(A const& a, B const& b) {
  return invoke<Op::evenly_divides>(a, b);
}
/// Returns true if no tile is partial when the tiler b divides a; false if b has more modes than a. `_` in b
/// denotes the complete mode.
template <class A, class B>
requires detail::layout_or_tiler_among<A, B> ZELLIGE_HOST_DEVICE constexpr auto evenly_divides(A const& a, B const& b) {
  if constexpr (layout_like<A>) {
    return evenly_divides(shape(a), b);
  } else if constexpr (is_underscore_v<B>) {
    return true_type{};
  } else if constexpr (tuple_like<B>) {
    if constexpr (detail::rank_v < B >> detail::rank_v<A>)
      return false_type{};
    else
      return detail::evenly_divides_modes(a, b, make_seq<detail::rank_v<B>>{});
  } else {
    return size(a) == size(b) * size(ceil_div(a, b));
  }
}

}  // namespace zellige
