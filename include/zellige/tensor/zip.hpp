// Combines several tensors of one shape into one tensor whose elements are tuples, one element per tensor.
//
//   Tensor ab = make_zip_tensor(a, b);      // ab(c) is (a(c), b(c)); ab(_, 3) and zipped_divide(ab, tile) are zips
//   get<0>(unzip_tensor(ab))                // is a view of a
//
// A zip tensor is read-only: its elements are values, not references.
#pragma once
#include <zellige/tensor/partition.hpp>
#include <zellige/tensor/same.hpp>
#include <zellige/tensor/sparse.hpp>

namespace zellige {

/// True for a type of elements of which each belongs to several elements of an operand: scales of blocks, and what a sparse
/// operand stores. Zipped with the operand, such a tensor may have another number of values in mode 0, those of one
/// instruction.
template <class T>
inline constexpr bool is_of_several = is_sparse_v<T>;

namespace detail {
template <class F, class... T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map_zip(tuple<T...> const& t, F const& f, seq<I...>) {
  return make_tuple(f(get<I>(t))...);
}
template <class T, class U, int... I>
ZELLIGE_HOST_DEVICE constexpr auto advance_each(T const& iters, U const& by, seq<I...>) {
  return make_tuple((get<I>(iters) + get<I>(by))...);
}
}  // namespace detail

template <class... It>
struct ZipIterator;
namespace detail {
template <class... It>
ZELLIGE_HOST_DEVICE constexpr ZipIterator<It...> zip_iterator(tuple<It...> const& iters) {
  return {iters};
}
}  // namespace detail

/// Iterator over tuples: it contains one iterator per tensor, and is advanced by a tuple of offsets.
template <class... It>
struct ZipIterator {
  using value_type = tuple<iter_value_t<It>...>;
  using element_type = value_type;
  using reference = value_type;
  using Seq = make_seq<int(sizeof...(It))>;

  tuple<It...> iters_;

  ZELLIGE_HOST_DEVICE constexpr value_type operator*() const { return read(Seq{}); }
  template <class... I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(tuple<I...> const& by) const {
    static_assert(sizeof...(I) == sizeof...(It), "ZipIterator: one offset for each of the zipped iterators");
    return detail::zip_iterator(detail::advance_each(iters_, by, Seq{}));
  }
  template <class... I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](tuple<I...> const& by) const {
    return *(*this + by);
  }

 private:
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr value_type read(seq<I...>) const {
    return {static_cast<iter_value_t<It>>(*get<I>(iters_))...};
  }
};
template <class... It>
inline constexpr bool detail::has_an_end<ZipIterator<It...>> = (has_an_end<It> || ...);
// A ZipIterator is in a memory space if all its iterators are in this memory space.
template <class First, class... It>
requires(is_same_v<typename detail::memory_of<First>::type,
                   typename detail::memory_of<It>::type>&&...) struct detail::memory_of<ZipIterator<First, It...>>
    : detail::memory_of<First> {
};

/// A layout that maps a coordinate to a tuple of indices, one per tensor.
template <class... L>
struct ZipLayout {
  static constexpr bool layout_tag = true;
  static constexpr bool zip_tag = true;
  using First = tuple_element_t<0, tuple<L...>>;
  static constexpr int rank = First::rank;
  static_assert(((L::rank == rank) && ...), "make_zip_tensor: the tensors differ in rank");

  [[no_unique_address]] tuple<L...> layouts_;

  ZELLIGE_HOST_DEVICE constexpr ZipLayout const& layout() const { return *this; }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto shape() const {
    return get<0>(layouts_).template shape<I...>();
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(Crd const& crd) const {
    return at(crd, make_seq<int(sizeof...(L))>{});
  }
  template <class C0, class C1, class... C>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(C0 const& c0, C1 const& c1, C const&... c) const {
    return (*this)(make_coord(c0, c1, c...));
  }

 private:
  template <class Crd, int... I>
  ZELLIGE_HOST_DEVICE constexpr auto at(Crd const& crd, seq<I...>) const;
};

namespace detail {
template <class... L>
ZELLIGE_HOST_DEVICE constexpr ZipLayout<L...> zip_of(tuple<L...> const& layouts) {
  return {layouts};
}
// Defines the function object name_by{t}, which applies the layout operation `name` with the argument t to a
// layout. on_each calls it for every layout of a zip.
#define ZELLIGE_ON_EVERY_LAYOUT(name)                                 \
  template <class T>                                                  \
  struct name##_by {                                                  \
    T const& t;                                                       \
    template <class L>                                                \
    ZELLIGE_HOST_DEVICE constexpr auto operator()(L const& l) const { \
      return name(l, t);                                              \
    }                                                                 \
  };
ZELLIGE_ON_EVERY_LAYOUT(composition)
ZELLIGE_ON_EVERY_LAYOUT(logical_divide)
ZELLIGE_ON_EVERY_LAYOUT(zipped_divide)
ZELLIGE_ON_EVERY_LAYOUT(tiled_divide)
ZELLIGE_ON_EVERY_LAYOUT(flat_divide)
#undef ZELLIGE_ON_EVERY_LAYOUT
/// Applies f to every layout of z, and returns the ZipLayout of the results.
template <class F, class... L>
ZELLIGE_HOST_DEVICE constexpr auto on_each(ZipLayout<L...> const& z, F const& f) {
  return zip_of(map_zip(z.layouts_, f, make_seq<int(sizeof...(L))>{}));
}
}  // namespace detail

template <class... L>
template <class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr auto ZipLayout<L...>::at(Crd const& crd, seq<I...>) const {
  if constexpr (has_underscore_v<Crd>)
    return detail::zip_of(make_tuple(get<I>(layouts_)(crd)...));
  else
    return make_tuple(get<I>(layouts_)(crd)...);
}
/// Returns the ZipLayout of the compositions of every layout of z with the tiler.
template <class T, class... L>
ZELLIGE_HOST_DEVICE constexpr auto composition(ZipLayout<L...> const& z, T const& tiler) {
  return detail::on_each(z, detail::composition_by<T>{tiler});
}
template <class T, class... L>
ZELLIGE_HOST_DEVICE constexpr auto logical_divide(ZipLayout<L...> const& z, T const& tiler) {
  return detail::on_each(z, detail::logical_divide_by<T>{tiler});
}
template <class T, class... L>
ZELLIGE_HOST_DEVICE constexpr auto zipped_divide(ZipLayout<L...> const& z, T const& tiler) {
  return detail::on_each(z, detail::zipped_divide_by<T>{tiler});
}
template <class T, class... L>
ZELLIGE_HOST_DEVICE constexpr auto tiled_divide(ZipLayout<L...> const& z, T const& tiler) {
  return detail::on_each(z, detail::tiled_divide_by<T>{tiler});
}
template <class T, class... L>
ZELLIGE_HOST_DEVICE constexpr auto flat_divide(ZipLayout<L...> const& z, T const& tiler) {
  return detail::on_each(z, detail::flat_divide_by<T>{tiler});
}
namespace detail {
template <int N, bool back>
struct widen_to {
  template <class L>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(L const& l) const {
    if constexpr (back)
      return append<N>(l);
    else
      return prepend<N>(l);
  }
};
}  // namespace detail
/// Returns the ZipLayout z with modes _1:_0 added at the end of every layout, up to rank N.
template <int N, class... L>
ZELLIGE_HOST_DEVICE constexpr auto append(ZipLayout<L...> const& z) {
  return detail::on_each(z, detail::widen_to<N, true>{});
}
/// Returns the ZipLayout z with modes _1:_0 added at the beginning of every layout, up to rank N.
template <int N, class... L>
ZELLIGE_HOST_DEVICE constexpr auto prepend(ZipLayout<L...> const& z) {
  return detail::on_each(z, detail::widen_to<N, false>{});
}

namespace detail {
template <class Crd, class... L, int... I>
ZELLIGE_HOST_DEVICE constexpr auto slice_zip(Crd const& crd, ZipLayout<L...> const& z, seq<I...>) {
  auto const parts = make_tuple(slice_and_offset(crd, get<I>(z.layouts_))...);
  return make_tuple(zip_of(make_tuple(get<0>(get<I>(parts))...)), make_tuple(get<1>(get<I>(parts))...));
}
/// Returns the layout of x with one value in mode 0.
template <class X>
ZELLIGE_HOST_DEVICE constexpr auto without_values(X const& x) {
  if constexpr (X::rank == 1)
    return Layout<_1, _0>{};
  else
    return replace<0>(x.layout(), Layout<_1, _0>{});
}
/// Reports an error unless all tensors b have the shape of a, apart from mode 0 if elements of a or b are of several.
template <class A, class... B>
ZELLIGE_HOST_DEVICE constexpr void require_zippable(A const& a, B const&... b) {
  constexpr auto check = []<class X, class Y>(X const& x, Y const& y) {
    if constexpr (X::rank == Y::rank &&
                  (is_of_several<typename X::value_type> || is_of_several<typename Y::value_type>))
      require_same_shape<Algorithm::make_zip_tensor>(without_values(x), without_values(y));
    else
      require_same_shape<Algorithm::make_zip_tensor>(x, y);
  };
  (check(a, b), ...);
}
template <class... It, class... L, class Over, int... I>
ZELLIGE_HOST_DEVICE constexpr auto unzip(tuple<It...> const& iters, tuple<L...> const& layouts, Over const& over,
                                         seq<I...>) {
  return make_tuple(view(get<I>(iters), get<I>(layouts), over)...);
}
/// Returns the out-of-bounds record of the first tensor that has out-of-bounds elements, or an empty record.
template <class... X>
ZELLIGE_HOST_DEVICE constexpr Overhang overhang_of_all(X const&... x) {
  Overhang found;
  ((found = either(found, known_of(x))), ...);
  return found;
}
}  // namespace detail
/// Slices every layout of z at crd. Returns a pair: the ZipLayout of the slices, and the tuple of the indices
/// at which the slices start.
template <class Crd, class... L>
ZELLIGE_HOST_DEVICE constexpr auto slice_and_offset(Crd const& crd, ZipLayout<L...> const& z) {
  return detail::slice_zip(crd, z, make_seq<int(sizeof...(L))>{});
}

/// Returns the tensor whose element at c is the tuple of the elements of all x at c. The tensors x must have
/// the same rank and the same sizes; otherwise reports an error, at compile time if the sizes are static.
template <tensor_like... X>
ZELLIGE_HOST_DEVICE constexpr auto make_zip_tensor(X const&... x) {
  static_assert(sizeof...(X) > 0, "make_zip_tensor(a, b, ...): at least one tensor is needed");
  using It = ZipIterator<remove_cvref_t<decltype(x.data())>...>;
  using L = ZipLayout<typename X::layout_type...>;
  detail::require_zippable(x...);
  return detail::view(It{make_tuple(remove_cvref_t<decltype(x.data())>(x.data())...)}, L{make_tuple(x.layout()...)},
                      detail::overhang_of_all(x...));
}
/// Returns the tuple of the tensors that were combined in x, as views.
template <class E, class... L>
ZELLIGE_HOST_DEVICE constexpr auto unzip_tensor(Tensor<E, ZipLayout<L...>> const& x) {
  return detail::unzip(x.data().iters_, x.layout().layouts_, detail::overhang_of(x), make_seq<int(sizeof...(L))>{});
}

}  // namespace zellige
