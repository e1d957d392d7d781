// Defines Layout<Shape, Stride>: a function from coordinates to indices, given by an extent and a stride per mode.
// Strides are integers, basis elements (the result is then a coordinate) or a user's type with + and *.
//
//   auto a = make_layout(make_shape(Int<4>{}, n), make_stride(n, Int<1>{}));   // row-major 4 x n
//   a(2, 3)          is  2*n + 3
//   a(2, _)          is  the layout of row 2
//   Layout<Shape<_64, _128>, Stride<_128, _1>>{}(i, j)   is  i*128 + j, with nothing stored
#pragma once
#include <zellige/layout/coordinate.hpp>
#include <zellige/layout/slice.hpp>

namespace zellige {

template <class S, class D = LayoutLeft::Apply<S>>
struct Layout;

template <class T>
inline constexpr bool is_layout_v = false;
template <class S, class D>
inline constexpr bool is_layout_v<Layout<S, D>> = true;
template <class T>
inline constexpr bool is_layout_v<T const> = is_layout_v<T>;
template <class T>
struct is_layout : bool_constant<is_layout_v<remove_cvref_t<T>>> {};
/// True for anything with a layout's interface: Layout and ComposedLayout.
template <class T>
concept layout_like = requires {
  remove_cvref_t<T>::layout_tag;
};

/// Returns the layout shape:stride. The stride may be LayoutLeft (column-major) or LayoutRight (row-major).
template <class S, class D>
requires(!layout_like<S> && !layout_like<D>) ZELLIGE_HOST_DEVICE
    constexpr auto make_layout(S const& shape, D const& stride) {
  static_assert(tuple_like<S> || integral<S> || user_integer<S>,
                "make_layout(shape, stride): a shape is a number or a tuple of them");
  if constexpr (is_same_v<D, LayoutLeft> || is_same_v<D, LayoutRight>) {
    return Layout<S, remove_cvref_t<decltype(compact_major<D>(shape))>>(shape, compact_major<D>(shape));
  } else {
    return Layout<S, D>(shape, stride);
  }
}
/// Returns the compact column-major layout of a shape.
template <class S>
requires(!layout_like<S>) ZELLIGE_HOST_DEVICE constexpr auto make_layout(S const& shape) {
  return make_layout(shape, LayoutLeft{});
}

/// A layout: the sum over all modes of coordinate times stride. Empty if all its numbers are static.
template <class S, class D>
struct Layout : private tuple<S, D> {
  static_assert(detail::congruent_v<S, D>, "Layout<Shape, Stride>: shape and stride differ in profile");
  static_assert(!detail::has_negative_v<S>, "Layout<Shape, Stride>: a static extent is negative; it must be 0 or more");
  static constexpr bool layout_tag = true;
  static constexpr int rank = detail::rank_v<S>;

  constexpr Layout() = default;
  ZELLIGE_STEP constexpr Layout(S const& shape, D const& stride = {}) : tuple<S, D>(shape, stride) {}

  /// Returns the shape, or the shape of the nested mode that the mode indices I select.
  template <int... I>
  ZELLIGE_STEP constexpr decltype(auto) shape() const {
    if constexpr (sizeof...(I) > 0)
      return get<I...>(shape());
    else if constexpr (__is_empty(S))
      return S{};
    else
      return get<0>(static_cast<tuple<S, D> const&>(*this));
  }
  /// The same of a layout that may be written: a reference, where the numbers are run-time ones.
  template <int... I>
  ZELLIGE_STEP constexpr decltype(auto) shape() {
    if constexpr (sizeof...(I) > 0)
      return get<I...>(shape());
    else if constexpr (__is_empty(S))
      return S{};
    else
      return get<0>(static_cast<tuple<S, D>&>(*this));
  }
  /// Returns the strides, or the strides of the nested mode that the mode indices I select.
  template <int... I>
  ZELLIGE_STEP constexpr decltype(auto) stride() const {
    if constexpr (sizeof...(I) > 0)
      return get<I...>(stride());
    else if constexpr (__is_empty(D))
      return D{};
    else
      return get<1>(static_cast<tuple<S, D> const&>(*this));
  }
  /// The same of a layout that may be written: a reference, where the numbers are run-time ones.
  template <int... I>
  ZELLIGE_STEP constexpr decltype(auto) stride() {
    if constexpr (sizeof...(I) > 0)
      return get<I...>(stride());
    else if constexpr (__is_empty(D))
      return D{};
    else
      return get<1>(static_cast<tuple<S, D>&>(*this));
  }
  ZELLIGE_HOST_DEVICE constexpr Layout layout() const { return *this; }

  /// Returns the index of a coordinate, which is passed as one tuple or as one argument per mode. If the
  /// coordinate contains `_`, returns the slice: the layout of the modes under `_`.
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(Crd const& crd) const {
    if constexpr (has_underscore_v<Crd>)
      return slice(crd, *this);
    else
      return crd2idx(crd, shape(), stride());
  }
  template <class C0, class C1, class... Crd>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(C0 const& c0, C1 const& c1, Crd const&... c) const {
    if constexpr (detail::integral_modes<S, D> == 2 + int(sizeof...(Crd)) && is_builtin_integer<C0> &&
                  sizeof(C0) >= sizeof(int) && is_same_v<C0, C1> && (is_same_v<C0, Crd> && ...))
      return detail::integral_indices(S{}, D{}, c0, c1, c...);
    else if constexpr (rank == 2 + int(sizeof...(Crd)))
      return (*this)(make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(Crd)), rank>(), Int<0>{};
  }

  /// Returns composition(*this, t) for one argument t. For several arguments, composes mode i with argument
  /// i.
  template <class T, class... Ts>
  ZELLIGE_HOST_DEVICE constexpr auto compose(T const& t, Ts const&... ts) const {
    if constexpr (sizeof...(Ts) == 0)
      return composition(*this, t);
    else
      return composition(*this, make_tile(t, ts...));
  }
  /// Returns tiled_divide(*this, t) for one argument t. For several arguments, divides mode i by argument i.
  template <class T, class... Ts>
  ZELLIGE_HOST_DEVICE constexpr auto tile(T const& t, Ts const&... ts) const {
    if constexpr (sizeof...(Ts) == 0)
      return tiled_divide(*this, t);
    else
      return tiled_divide(*this, make_tile(t, ts...));
  }
  /// Returns the layout over another shape of the same size: composition(*this, compact layout of the shape).
  /// The shape is one argument, or one argument per mode.
  template <class N, class... Ns>
  ZELLIGE_HOST_DEVICE constexpr auto with_shape(N const& n, Ns const&... ns) const {
    if constexpr (sizeof...(Ns) == 0)
      return composition(*this, make_layout(n));
    else
      return composition(*this, make_layout(make_shape(n, ns...)));
  }

  /// Returns the coordinate at which the layout has index idx, in the layout's own profile: (idx / stride) %
  /// extent at each leaf. The layout must be compact.
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto get_hier_coord(I const& idx) const {
    return idx2crd(idx, shape(), stride());
  }
  /// Returns the coordinate at which the layout has index idx, with one number per top-level mode. The layout
  /// must be compact.
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto get_flat_coord(I const& idx) const {
    if constexpr (rank == 1)
      return crd2idx(get_hier_coord(idx), shape());
    else
      return crd2crd(get_hier_coord(idx), shape(), product_each(shape()));
  }
  /// Returns the linear coordinate at which the layout has index idx. The layout must be compact.
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto get_1d_coord(I const& idx) const {
    return crd2idx(get_hier_coord(idx), shape());
  }
};
template <class S, class D>
Layout(S const&, D const&) -> Layout<S, D>;

/// Returns the layout whose modes are the given layouts.
template <class L, class... R>
requires(is_layout_v<L> && (is_layout_v<R> && ...)) ZELLIGE_HOST_DEVICE
    constexpr auto make_layout(L const& a, R const&... rest) {
  return make_layout(make_shape(a.shape(), rest.shape()...), make_stride(a.stride(), rest.stride()...));
}

/// Returns mode I as a layout.
template <int I, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto get(Layout<S, D> const& layout) {
  if constexpr (0 <= I && I < detail::rank_v<S>)
    return make_layout(get<I>(layout.shape()), get<I>(layout.stride()));
  else
    return mode_is_out_of_range<I, detail::rank_v<S>>(), Layout<Int<1>, Int<0>>{};
}
/// Returns the layout, or the nested mode that mode indices I select.
template <int... I, class L>
requires layout_like<L> ZELLIGE_HOST_DEVICE constexpr auto layout(L const& l) {
  if constexpr (sizeof...(I) == 0)
    return l;
  else
    return get<I...>(l);
}

namespace detail {
template <class D>
inline constexpr bool is_own_stride = integral<D> || is_tuple_v<D> || requires {
  D::basis_tag;
};
template <auto v>
inline constexpr bool is_own_stride<C<v>> = true;
template <>
inline constexpr bool is_own_stride<int> = true;
template <class... D>
inline constexpr bool is_own_stride<tuple<D...>> = (is_own_stride<D> && ...);
/// True for a layout whose strides have a user's type.
template <class T>
inline constexpr bool of_user_module = false;
template <class S, class D>
inline constexpr bool of_user_module<Layout<S, D>> = !is_own_stride<D>;
}  // namespace detail

namespace detail {
/// True for a layout or tensor, and for a tuple with one among its leaves.
template <class T>
inline constexpr bool has_a_layout = requires(T const& t) {
  t.shape();
};
template <class... T>
inline constexpr bool has_a_layout<tuple<T...>> = (has_a_layout<T> || ...);
}  // namespace detail
// Returns the shape of a layout, tuple or number, or the shape of the nested mode that mode indices I select:
// shape<0, 1>(a). A tuple of layouts, such as a tiler, has the tuple of their shapes.
template <int... I, class T>
ZELLIGE_HOST_DEVICE constexpr auto shape(T const& t) {
  if constexpr (requires { t.shape(); })
    return t.template shape<I...>();
  else if constexpr (sizeof...(I) > 0)
    return shape(get<I...>(t));
  else if constexpr (detail::has_a_layout<T>)
    return transform(t, [](auto const& mode) { return shape(mode); });
  else
    return t;
}
/// Returns the strides of a layout, or the strides of the nested mode that mode indices I select.
template <int... I, class T>
ZELLIGE_HOST_DEVICE constexpr auto stride(T const& t) {
  return t.template stride<I...>();
}
/// shape and stride of a layout that may be written are references to its run-time numbers: get<2>(stride(l)) = 0.
template <int... I, class S, class D>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) shape(Layout<S, D>& l) {
  return l.template shape<I...>();
}
template <int... I, class S, class D>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) stride(Layout<S, D>& l) {
  return l.template stride<I...>();
}
/// Returns the index of a coordinate in a layout: l(crd).
template <class Crd, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto crd2idx(Crd const& crd, L const& l) {
  return l(crd);
}
namespace detail {
template <class S, class D>
inline constexpr long long static_product<Layout<S, D>> = static_product<S>;
}
/// Returns the number of coordinates of a layout, tuple or number, or of the nested mode that mode indices I
/// select; static if the shape is static.
template <int... I, class T>
ZELLIGE_HOST_DEVICE constexpr auto size(T const& t) {
  constexpr long long static_size = detail::static_product<T>;
  if constexpr (sizeof...(I) == 0 && detail::fits_int(static_size))
    return C<int(static_size)>{};
  else if constexpr (sizeof...(I) == 0 && static_size != detail::unknown)
    return C<static_size>{};
  else
    return product(shape<I...>(t));
}
/// Returns the number of top-level modes of a layout, tuple or number, or of the nested mode that mode
/// indices I select.
template <int... I, class T>
ZELLIGE_HOST_DEVICE constexpr auto rank(T const&) {
  return Int<detail::rank_v<decltype(shape<I...>(*static_cast<T const*>(nullptr)))>>{};
}
/// Returns the depth of nesting, 0 for a number and 1 for a flat tuple, of a layout, tuple or number, or of
/// the nested mode that mode indices I select.
template <int... I, class T>
ZELLIGE_HOST_DEVICE constexpr auto depth(T const&) {
  return Int<detail::depth_v<decltype(shape<I...>(*static_cast<T const*>(nullptr)))>>{};
}
template <class T>
inline constexpr auto rank_v = decltype(rank(T{}))::value;
template <class T>
inline constexpr auto size_v = decltype(size(T{}))::value;

namespace detail {
// The largest index of a static layout, with strides by absolute value; `unknown` if a number is not static.
template <class S, class D>
inline constexpr long long static_last = unknown;
template <auto s, auto d>
inline constexpr long long static_last<C<s>, C<d>> = (s - 1LL) * (d < 0 ? -d : d);
template <auto... s, auto... d>
requires(sizeof...(s) == sizeof...(d)) inline constexpr long long static_last<tuple<C<s>...>, tuple<C<d>...>> =
    (0LL + ... + ((s - 1LL) * (d < 0 ? -d : d)));
template <class... S, class... D>
inline constexpr long long static_last<tuple<S...>, tuple<D...>> =
    ((static_last<S, D> != unknown) && ...) ? (0LL + ... + static_last<S, D>) : unknown;

template <class L>
inline constexpr long long last_of = unknown;
template <class S, class D>
inline constexpr long long last_of<Layout<S, D>> = static_last<S, D>;

template <class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto last_index_of(S const& shape, D const& stride, seq<I...>);
template <class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto last_index(S const& shape, D const& stride) {
  if constexpr (tuple_like<S>)
    return last_index_of(shape, stride, make_seq<tuple_size_v<S>>{});
  else if constexpr (checked_arithmetic<decltype((shape - Int<1>{}) * abs(stride))>)
    return checked_product<decltype((shape - Int<1>{}) * abs(stride))>(
        static_cast<long long>(shape) - 1,
        static_cast<long long>(stride) < 0 ? -static_cast<long long>(stride) : static_cast<long long>(stride));
  else
    return (shape - Int<1>{}) * abs(stride);
}
template <class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto last_index_of(S const& shape, D const& stride, seq<I...>) {
  if constexpr (sizeof...(I) == 0) {
    return Int<0>{};
  } else {
    using Index = decltype((... + last_index(get<I>(shape), get<I>(stride))));
    if constexpr (checked_arithmetic<Index>)
      return checked_sum<Index>({static_cast<long long>(last_index(get<I>(shape), get<I>(stride)))...});
    else
      return (... + last_index(get<I>(shape), get<I>(stride)));
  }
}
struct plus_one {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& n) const {
    return n + Int<1>{};
  }
};
}  // namespace detail

/// Returns one more than the largest index of a layout, or of its nested mode that mode indices I select;
/// strides count by their absolute value. For a layout of coordinates, returns the size of the smallest box
/// from zero that contains all of its coordinates.
template <int... I, class L>
ZELLIGE_HOST_DEVICE constexpr auto cosize(L const& l) {
  constexpr long long last = sizeof...(I) == 0 ? detail::last_of<L> : detail::unknown;
  if constexpr (detail::fits_int(last + 1)) {
    return C<int(last + 1)>{};
  } else if constexpr (last != detail::unknown) {
    return C<last + 1>{};
  } else if constexpr (sizeof...(I) > 0) {
    return cosize(get<I...>(l));
  } else if constexpr (detail::of_user_module<L>) {
    static_assert(!detail::of_user_module<L>, "cosize(layout): the elements of a user's module have no size");
    return Int<0>{};
  } else {
    auto const last = detail::last_index(l.shape(), l.stride());
    if constexpr (detail::checked_arithmetic<remove_cvref_t<decltype(last)>>)
      return detail::checked_sum<remove_cvref_t<decltype(last)>>({static_cast<long long>(last), 1});
    else if constexpr (integral<decltype(last)>)
      return last + Int<1>{};
    else
      return product(transform_leaf(as_arithmetic_tuple(last), detail::plus_one{}));
  }
}
template <class L>
inline constexpr auto cosize_v = decltype(cosize(L{}))::value;

/// Returns the layout of those modes for which crd has a `_`, without the index at which the slice starts.
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto slice(Crd const& crd, Layout<S, D> const& l) {
  using At = detail::misfit<Crd, S>;
  if constexpr (At::crd == At::layout)
    return make_layout(slice(crd, l.shape()), slice(crd, l.stride()));
  else
    return coordinate_and_layout_differ_in_rank<At::crd, At::layout>(), Layout<Int<1>, Int<0>>{};
}
/// Returns the layout of those modes for which crd has a number: the modes that slice drops.
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto dice(Crd const& crd, Layout<S, D> const& l) {
  return make_layout(dice(crd, l.shape()), dice(crd, l.stride()));
}

namespace detail {
// Replaces each `_` of a coordinate by 0.
struct zero_mark {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& c) const {
    if constexpr (is_underscore_v<T>)
      return Int<0>{};
    else
      return c;
  }
};
}  // namespace detail

namespace detail {
template <class D>
inline constexpr bool has_integral_strides_v = integral<D>;
template <class... D>
inline constexpr bool has_integral_strides_v<tuple<D...>> = (has_integral_strides_v<D> && ...);

template <class... C, class S, class D, int... I>
ZELLIGE_STEP constexpr auto offset_flat(tuple<C...> const& crd, S const& shape, D const& stride, seq<I...>) {
  using Index = decltype((... + crd2idx(get<nth_true<!is_underscore_v<C>...>(I)>(crd),
                                        get<nth_true<!is_underscore_v<C>...>(I)>(shape),
                                        get<nth_true<!is_underscore_v<C>...>(I)>(stride))));
  if constexpr (checked_arithmetic<Index>)
    return checked_sum<Index>({static_cast<long long>(crd2idx(get<nth_true<!is_underscore_v<C>...>(I)>(crd),
                                                              get<nth_true<!is_underscore_v<C>...>(I)>(shape),
                                                              get<nth_true<!is_underscore_v<C>...>(I)>(stride)))...});
  else
    return (... + crd2idx(get<nth_true<!is_underscore_v<C>...>(I)>(crd),
                          get<nth_true<!is_underscore_v<C>...>(I)>(shape),
                          get<nth_true<!is_underscore_v<C>...>(I)>(stride)));
}
/// Returns the index at which the slice of the layout shape:stride at crd starts: the index of crd with each
/// `_` replaced by 0.
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto slice_offset(Crd const& crd, S const& shape, D const& stride) {
  if constexpr (is_flat_v<Crd> && has_integral_strides_v<D> && misfit<Crd, S>::crd == misfit<Crd, S>::layout) {
    constexpr int named = marked_count<false, Crd>;
    if constexpr (named == 0)
      return Int<0>{};
    else
      return offset_flat(crd, shape, stride, make_seq<named>{});
  } else {
    return crd2idx(transform_leaf(crd, zero_mark{}), shape, stride);
  }
}
}  // namespace detail
/// Returns the pair (layout of the modes for which crd has a `_`, index at which this slice starts).
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto slice_and_offset(Crd const& crd, Layout<S, D> const& l) {
  return make_tuple(slice(crd, l), detail::slice_offset(crd, l.shape(), l.stride()));
}
/// Returns the pair (l, index of crd in l), which describes the layout with its origin moved to crd.
template <class Crd, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto domain_offset(Crd const& crd, Layout<S, D> const& l) {
  return make_tuple(l, l(crd));
}

}  // namespace zellige
