// Converts between coordinates and indices: crd2idx maps a coordinate through a shape and strides to an
// index, idx2crd maps an index back.
//
//   crd2idx(make_coord(1, 2), Shape<_3, _4>{}, Stride<_4, _1>{})   is  1*4 + 2*1
//
// At any level of nesting, a coordinate may have an integer where the shape has a tuple of modes. The integer is then a
// colexicographic index into these modes: the first mode is the fastest.
#pragma once
#include <zellige/layout/int_tuple.hpp>

namespace zellige {

template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx(Crd const& crd, S const& shape, D const& stride);

namespace detail {
template <class Crd, class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx_modes(Crd const& crd, S const& shape, D const& stride, seq<I...>) {
  using Index = decltype((... + crd2idx(get<I>(crd), get<I>(shape), get<I>(stride))));
  if constexpr (checked_arithmetic<Index>)
    return checked_sum<Index>({static_cast<long long>(crd2idx(get<I>(crd), get<I>(shape), get<I>(stride)))...});
  else
    return (... + crd2idx(get<I>(crd), get<I>(shape), get<I>(stride)));
}
template <class Crd, class S, class D, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx_count(Crd const& crd, S const& shape, D const& stride, seq<I, R...>) {
  if constexpr (sizeof...(R) == 0) {
    return crd2idx(crd, get<I>(shape), get<I>(stride));
  } else if constexpr (is_constant<0, Crd>::value) {
    return crd2idx(Int<0>{}, get<I>(shape), get<I>(stride)) + crd2idx_count(Int<0>{}, shape, stride, seq<R...>{});
  } else if constexpr (is_constant<0, decltype(product(get<I>(shape)))>::value) {
    return Int<0>{};  // an empty layout has no coordinate
  } else {
    // The quotient comes first, as in CuTe (see algebra/coordinate.hpp).
    auto const extent = product(get<I>(shape));
    auto const rest = crd / extent;
    auto const index = crd2idx(crd % extent, get<I>(shape), get<I>(stride));
    auto const others = crd2idx_count(rest, shape, stride, seq<R...>{});
    if constexpr (checked_arithmetic<decltype(index + others)>)
      return checked_sum<decltype(index + others)>({static_cast<long long>(index), static_cast<long long>(others)});
    else
      return index + others;
  }
}
}  // namespace detail

/// Returns the index of a coordinate: the sum over all modes of coordinate times stride. Where crd has a
/// number and the shape a tuple, the number is a colexicographic index into that tuple.
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx(Crd const& crd, S const& shape, D const& stride) {
  if constexpr (tuple_like<Crd>) {
    if constexpr (!tuple_like<S> || tuple_size_v<Crd> != detail::rank_v<S>) {
      return coordinate_and_layout_differ_in_rank<tuple_size_v<Crd>, detail::rank_v<S>>(), Int<0>{};
    } else if constexpr (tuple_size_v<Crd> == 0) {
      return Int<0>{};
    } else {
      return detail::crd2idx_modes(crd, shape, stride, make_seq<tuple_size_v<S>>{});
    }
  } else if constexpr (tuple_like<S>) {
    if constexpr (tuple_size_v<S> == 0)
      return Int<0>{};
    else
      return detail::crd2idx_count(crd, shape, stride, make_seq<tuple_size_v<S>>{});
  } else if constexpr (detail::checked_factors<Crd, D>) {
    return detail::checked_product<decltype(crd * stride)>(static_cast<long long>(crd), static_cast<long long>(stride));
  } else if constexpr (requires { crd* stride; }) {
    return crd * stride;
  } else {
    return a_coordinate_is_neither_a_number_nor_a_tuple_of_numbers<detail::rank_v<S>>(), Int<0>{};
  }
}

namespace detail {
/// True if all extents and strides of a mode are static ints. integral_modes is the number of modes if this
/// holds for all of them, else 0; a run-time coordinate of that rank is then evaluated by integral_index.
/// This avoids a function per mode and element, and halves the compile time of kernels that index in every
/// line.
template <class S, class D>
inline constexpr bool is_integral_mode = false;
template <auto s, auto d>
inline constexpr bool is_integral_mode<C<s>, C<d>> =
    is_same_v<remove_cvref_t<decltype(s)>, int>&& is_same_v<remove_cvref_t<decltype(d)>, int>;
template <auto... s, auto... d>
requires(sizeof...(s) == sizeof...(d) &&
         sizeof...(s) > 0) inline constexpr bool is_integral_mode<tuple<C<s>...>, tuple<C<d>...>> =
    (is_integral_mode<C<s>, C<d>> && ...);

template <class S, class D>
inline constexpr int integral_modes = 0;
template <class... S, class... D>
requires(sizeof...(S) ==
         sizeof...(D)) inline constexpr int integral_modes<tuple<S...>, tuple<D...>> = (is_integral_mode<S, D> && ...)
                                                                                           ? int(sizeof...(S))
                                                                                           : 0;

/// Returns the index of the linear coordinate c in one mode, whose static extents and strides are the first
/// two arguments: numbers, or tuples of numbers.
template <auto s, auto d, class Number>
ZELLIGE_STEP constexpr Number integral_index(C<s>, C<d>, Number c) {
  if constexpr (checked_arithmetic<Number>)
    return checked_product<Number>(static_cast<long long>(c), d);
  else
    return c * d;
}
template <auto s, auto... rest, auto d, auto... steps, class Number>
ZELLIGE_STEP constexpr Number integral_index(tuple<C<s>, C<rest>...>, tuple<C<d>, C<steps>...>, Number c) {
  if constexpr (sizeof...(rest) == 0) {
    return integral_index(C<s>{}, C<d>{}, c);
  } else if constexpr (s == 0) {
    return Number(0);  // an empty mode has no coordinate
  } else {
    Number const quotient = c / s;
    Number const index = integral_index(C<s>{}, C<d>{}, Number(c % s));
    Number const others = integral_index(tuple<C<rest>...>{}, tuple<C<steps>...>{}, quotient);
    if constexpr (checked_arithmetic<Number>)
      return checked_sum<Number>({static_cast<long long>(index), static_cast<long long>(others)});
    else
      return index + others;
  }
}
template <auto... s, auto... d, class... Number>
ZELLIGE_STEP constexpr auto integral_indices(tuple<C<s>...>, tuple<C<d>...>, Number... c) {
  using Index = decltype((... + (c * d)));
  if constexpr (checked_arithmetic<Index>)
    return checked_sum<Index>({static_cast<long long>(checked_product<Index>(static_cast<long long>(c), d))...});
  else
    return (... + (c * d));
}
template <class... S, class... D, class... Number>
ZELLIGE_STEP constexpr auto integral_indices(tuple<S...>, tuple<D...>, Number... c) {
  using Index = decltype((... + integral_index(S{}, D{}, c)));
  if constexpr (checked_arithmetic<Index>)
    return checked_sum<Index>({static_cast<long long>(integral_index(S{}, D{}, c))...});
  else
    return (... + integral_index(S{}, D{}, c));
}
}  // namespace detail

// Tags for compact strides: LayoutLeft is column-major (first mode fastest), LayoutRight row-major.
struct LayoutLeft;
struct LayoutRight;

namespace detail {
template <class Major, bool last, class S, class Cur>
ZELLIGE_HOST_DEVICE constexpr auto compact(S const& shape, Cur const& current);

template <class Major, bool last, class S, class Cur, class Done>
ZELLIGE_HOST_DEVICE constexpr auto compact_modes(S const&, Cur const& current, Done const& done, seq<>) {
  return make_tuple(done, current);
}
template <class Major, bool last, class S, class Cur, class Done, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto compact_modes(S const& shape, Cur const& current, Done const& done, seq<I, R...>) {
  auto const mode = compact < Major, last && sizeof...(R) == 0 > (get<I>(shape), current);
  if constexpr (is_same_v<Major, LayoutLeft>) {
    return compact_modes<Major, last>(shape, get<1>(mode), tuple_cat(done, make_tuple(get<0>(mode))), seq<R...>{});
  } else {
    return compact_modes<Major, last>(shape, get<1>(mode), tuple_cat(make_tuple(get<0>(mode)), done), seq<R...>{});
  }
}
template <int N, int... I>
ZELLIGE_HOST_DEVICE constexpr seq<(N - 1 - I)...> reversed(seq<I...>) {
  return {};
}

/// Returns the pair (compact strides of the shape, stride that a following mode would have). The smallest
/// stride is `current`. Major is LayoutLeft (the first mode is the fastest) or LayoutRight (the last one). `last`: no mode
/// follows, and the stride that it would have is not computed.
template <class Major, bool last, class S, class Cur>
ZELLIGE_HOST_DEVICE constexpr auto compact(S const& shape, Cur const& current) {
  if constexpr (tuple_like<S>) {
    constexpr int rank = tuple_size_v<S>;
    if constexpr (is_same_v<Major, LayoutLeft>) {
      return compact_modes<Major, last>(shape, current, tuple<>{}, make_seq<rank>{});
    } else {
      return compact_modes<Major, last>(shape, current, tuple<>{}, decltype(reversed<rank>(make_seq<rank>{})){});
    }
  } else if constexpr (is_constant<1, S>::value) {
    return make_tuple(Int<0>{}, current);
  } else if constexpr (last) {
    return make_tuple(current, current);
  } else if constexpr (checked_factors<Cur, S>) {
    return make_tuple(current, checked_product<decltype(current * shape)>(static_cast<long long>(current),
                                                                          static_cast<long long>(shape)));
  } else {
    return make_tuple(current, current * shape);
  }
}
}  // namespace detail

namespace detail {
// The product of static extents, or -1 if an extent is a run-time number.
template <class S>
inline constexpr long long static_extent_v = -1;
template <auto v>
inline constexpr long long static_extent_v<C<v>> = v;
template <class... S>
inline constexpr long long static_extent_v<tuple<S...>> =
    ((static_extent_v<S> >= 0) && ...) ? (1 * ... * static_extent_v<S>) : -1;

/// Returns the compact stride of a mode: the product of the extents of all modes before it (if `left`) or
/// after it.
template <bool left, long long... extent>
ZELLIGE_HOST_DEVICE consteval long long steps_over(int mode) {
  long long steps = 1;
  int at = 0;
  ((steps *= (left ? at < mode : at > mode) ? extent : 1, ++at), ...);
  return steps;
}
/// The compact strides of a static shape as a type. Uses one class per node of the shape and no function,
/// which saves compile time.
template <bool left, class S, long long current, class Modes>
struct compact_static;
template <bool left, auto v, long long current>
struct compact_static<left, C<v>, current, seq<>> {
  using type = C<(v == 1 ? 0 : int(current))>;
};
template <class S>
using modes_of = make_seq<(is_tuple_v<S> ? tuple_size_v<S> : 0)>;
template <bool left, class... S, long long current, int... I>
struct compact_static<left, tuple<S...>, current, seq<I...>> {
  using type = tuple<
      typename compact_static<left, S, current * steps_over<left, static_extent_v<S>...>(I), modes_of<S>>::type...>;
};
}  // namespace detail

template <class Major, class S, class Cur = Int<1>>
ZELLIGE_HOST_DEVICE constexpr auto compact_major(S const& shape, Cur const& current = {});
namespace detail {
/// Returns the compact strides of each mode, which begin with the mode's own smallest stride.
template <class Major, class S, class Cur, int... I>
ZELLIGE_HOST_DEVICE constexpr auto compact_each(S const& shape, Cur const& current, seq<I...>) {
  return make_tuple(compact_major<Major>(get<I>(shape), get<I>(current))...);
}
}  // namespace detail

/// Returns the compact strides of a shape, with the first mode fastest (Major is LayoutLeft) or the last one
/// (LayoutRight). The smallest stride is `current`; if `current` is a tuple, each mode has its own smallest
/// stride. Modes of extent 1 have stride 0.
template <class Major, class S, class Cur>
ZELLIGE_HOST_DEVICE constexpr auto compact_major(S const& shape, Cur const& current) {
  static_assert(!tuple_like<Cur> || is_same_v<detail::modes_of<Cur>, detail::modes_of<S>>,
                "compact_major(shape, current): a step for every mode of the shape");
  constexpr long long extent = detail::static_extent_v<S>;
  // As a named constant: nvcc passes the expression itself to the host compiler, which treats it as a
  // dependent one.
  constexpr bool left = is_same_v<Major, LayoutLeft>;
  if constexpr (is_same_v<Cur, Int<1>> && 0 <= extent && extent < (1LL << 31))
    return typename detail::compact_static<left, S, 1, detail::modes_of<S>>::type{};
  else if constexpr (tuple_like<Cur>)
    return detail::compact_each<Major>(shape, current, detail::modes_of<S>{});
  else
    return get<0>(detail::compact<Major, true>(shape, current));
}
template <class S, class Cur = Int<1>>
ZELLIGE_HOST_DEVICE constexpr auto compact_col_major(S const& shape, Cur const& current = {}) {
  return compact_major<LayoutLeft>(shape, current);
}
template <class S, class Cur = Int<1>>
ZELLIGE_HOST_DEVICE constexpr auto compact_row_major(S const& shape, Cur const& current = {}) {
  return compact_major<LayoutRight>(shape, current);
}

namespace detail {
// The strides that LayoutLeft or LayoutRight denotes as a template argument of Layout. Undefined for a
// layout, so that deduction of Layout's arguments continues.
template <class Major, class S>
struct compact_strides {};
template <class Major, class S>
requires(!requires { S::layout_tag; }) struct compact_strides<Major, S> {
  using type = remove_cvref_t<decltype(compact_major<Major>(S{}))>;
};
}  // namespace detail
struct LayoutLeft {
  template <class S>
  using Apply = typename detail::compact_strides<LayoutLeft, S>::type;
};
struct LayoutRight {
  template <class S>
  using Apply = typename detail::compact_strides<LayoutRight, S>::type;
};
using GenColMajor = LayoutLeft;
using GenRowMajor = LayoutRight;

/// Returns the colexicographic index of a coordinate in a shape (first mode fastest).
template <class Crd, class S>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx(Crd const& crd, S const& shape) {
  if constexpr (tuple_like<Crd> && !tuple_like<S> && requires { shape.shape(); })
    return the_shape_is_neither_a_number_nor_a_tuple_of_numbers<tuple_size_v<Crd>>(), Int<0>{};
  else if constexpr (tuple_like<Crd>)
    return crd2idx(crd, shape, compact_col_major(shape));
  else
    return crd;
}

namespace detail {
template <class Idx, class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd_modes(Idx const& idx, S const& shape, D const& stride, seq<I...>);
template <class Idx, class S, int... I>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd_modes(Idx const& idx, S const& shape, seq<I...>);
template <class Idx, class S, class Done, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto count_off(Idx const& idx, S const& shape, Done const& done, seq<I, R...>);
template <class Crd, class S, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto crd2crd_modes(Crd const& crd, S const& from, T const& to, seq<I...>);
}  // namespace detail

/// Returns the coordinate at which the compact layout shape:stride has index idx: (idx / stride) % extent at
/// each leaf, and 0 where the extent is 1.
template <class Idx, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd(Idx const& idx, S const& shape, D const& stride) {
  if constexpr (tuple_like<S>) {
    static_assert(!tuple_like<Idx> || detail::rank_v<Idx> == detail::rank_v<S>,
                  "idx2crd: index and shape differ in rank");
    return detail::idx2crd_modes(idx, shape, stride, make_seq<tuple_size_v<S>>{});
  } else if constexpr (is_constant<1, S>::value) {
    return Int<0>{};
  } else {
    return (idx / stride) % shape;
  }
}

/// Returns the coordinate in `shape` whose colexicographic index is idx. The last mode does not wrap around:
/// an idx beyond the shape's size gives a coordinate beyond the last extent.
template <class Idx, class S>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd(Idx const& idx, S const& shape) {
  if constexpr (tuple_like<Idx>) {
    static_assert(detail::rank_v<Idx> == detail::rank_v<S>, "idx2crd: index and shape differ in rank");
    return detail::idx2crd_modes(idx, shape, make_seq<tuple_size_v<Idx>>{});
  } else if constexpr (tuple_like<S>) {
    if constexpr (tuple_size_v<S> == 0)
      return tuple<>{};
    else
      return detail::count_off(idx, shape, tuple<>{}, make_seq<tuple_size_v<S>>{});
  } else {
    return idx;
  }
}

/// Returns the coordinate in shape `to` that has the same colexicographic index as crd has in shape `from`.
/// If crd, from and to are tuples, each mode is converted separately.
template <class Crd, class S, class T>
ZELLIGE_HOST_DEVICE constexpr auto crd2crd(Crd const& crd, S const& from, T const& to) {
  if constexpr (tuple_like<Crd> && tuple_like<S> && tuple_like<T>) {
    static_assert(tuple_size_v<Crd> == tuple_size_v<S> && tuple_size_v<S> == tuple_size_v<T>,
                  "crd2crd: coordinate and shapes differ in rank");
    return detail::crd2crd_modes(crd, from, to, make_seq<tuple_size_v<Crd>>{});
  } else {
    return idx2crd(crd2idx(crd, from), to);
  }
}

namespace detail {
template <class Idx, class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd_modes(Idx const& idx, S const& shape, D const& stride, seq<I...>) {
  if constexpr (tuple_like<Idx>)
    return make_tuple(idx2crd(get<I>(idx), get<I>(shape), get<I>(stride))...);
  else
    return make_tuple(idx2crd(idx, get<I>(shape), get<I>(stride))...);
}
template <class Idx, class S, int... I>
ZELLIGE_HOST_DEVICE constexpr auto idx2crd_modes(Idx const& idx, S const& shape, seq<I...>) {
  return make_tuple(idx2crd(get<I>(idx), get<I>(shape))...);
}
template <class Idx, class S, class Done, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto count_off(Idx const& idx, S const& shape, Done const& done, seq<I, R...>) {
  if constexpr (sizeof...(R) == 0) {
    return tuple_cat(done, make_tuple(idx2crd(idx, get<I>(shape))));
  } else {
    auto const extent = product(get<I>(shape));
    auto const rest = idx / extent;
    return count_off(rest, shape, tuple_cat(done, make_tuple(idx2crd(idx % extent, get<I>(shape)))), seq<R...>{});
  }
}
template <class Crd, class S, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto crd2crd_modes(Crd const& crd, S const& from, T const& to, seq<I...>) {
  return make_tuple(crd2crd(get<I>(crd), get<I>(from), get<I>(to))...);
}
}  // namespace detail

}  // namespace zellige
