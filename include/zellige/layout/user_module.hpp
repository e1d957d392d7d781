// Applies the layout algebra to layouts whose strides have a user's type: pixels, degrees, matrices. The type needs
// only addition and multiplication by an int on the left. Operations replace these strides by basis elements, one per
// stride, compute with the resulting layout of coordinates, and put the user's strides back in the result.
//
//   zipped_divide(make_layout(make_shape(8, 6), make_stride(Pixel{0, 10}, Pixel{7, -2})), Shape<_4, _3>{})
//
// Operations that compare or divide strides, or need their magnitude, are not defined for such types: calling them is a
// compile error.
#pragma once
#include <zellige/layout/algebra/operation.hpp>
#include <zellige/layout/layout.hpp>

namespace zellige {

template <auto operation, class Layout>
ZELLIGE_HOST_DEVICE constexpr void strides_of_a_user_module_cannot_be_compared_or_divided() = delete;
template <auto operation, class... RightOperand>
ZELLIGE_HOST_DEVICE constexpr void a_right_operand_chooses_coordinates_and_has_no_strides_of_a_user_module() = delete;

namespace detail {
/// Returns true for operations that only move, split or count modes, so that strides are kept or multiplied
/// by integers.
ZELLIGE_ALGEBRA constexpr bool keeps_strides(Op op) {
  Family const f = family_of(op);
  return f == Family::reshape || f == Family::compose || f == Family::divide || f == Family::modes ||
         f == Family::query;
}
template <class Other>
ZELLIGE_ALGEBRA constexpr bool keeps_strides(Other) {
  return false;
}
/// Returns true for operations that, on a composed layout c -> left(offset + right(c)), can be applied to
/// `right` alone or need only its shape.
ZELLIGE_ALGEBRA constexpr bool is_of_the_right_part(Op op) {
  return (keeps_strides(op) && composed_of(op) == Composed::inside) || family_of(op) == Family::query;
}
template <class Other>
ZELLIGE_ALGEBRA constexpr bool is_of_the_right_part(Other) {
  return false;
}
/// Returns true for operations whose right operand selects coordinates of the left one, and therefore needs
/// integer strides.
ZELLIGE_ALGEBRA constexpr bool chooses_coordinates(Op op) {
  Family const f = family_of(op);
  return f == Family::reshape || f == Family::compose || f == Family::divide;
}
template <class Other>
ZELLIGE_ALGEBRA constexpr bool chooses_coordinates(Other) {
  return false;
}

/// Number of leaves of a stride.
template <class D>
inline constexpr int strides_in = 1;
template <class... D>
inline constexpr int strides_in<tuple<D...>> = (0 + ... + strides_in<D>);
template <class T>
inline constexpr int user_strides_in = 0;
template <class S, class D>
requires of_user_module<Layout<S, D>>
inline constexpr int user_strides_in<Layout<S, D>> = strides_in<D>;

/// Basis elements E<at>, E<at + 1>, ... in the profile of the strides D.
template <int at, class D>
struct basis_instead {
  using type = E<at>;
};
template <int at, class... D>
struct basis_instead<at, tuple<D...>> {
  template <int... I>
  ZELLIGE_HOST_DEVICE static constexpr auto make(seq<I...>) {
    constexpr int counts[] = {strides_in<D>..., 0};
    constexpr auto before = [counts](int i) {
      int n = at;
      for (int k = 0; k < i; ++k) n += counts[k];
      return n;
    };
    return tuple<typename basis_instead<before(I), tuple_element_t<I, tuple<D...>>>::type...>{};
  }
  using type = decltype(make(make_seq<int(sizeof...(D))>{}));
};
/// Returns the layout t with the basis elements E<at>, E<at + 1>, ... in place of its strides of a user's
/// type; other operands are returned unchanged.
template <int at, class T>
ZELLIGE_STEP constexpr auto on_coordinates(T const& t) {
  if constexpr (of_user_module<T>) {
    using D = remove_cvref_t<decltype(t.stride())>;
    return make_layout(t.shape(), typename basis_instead<at, D>::type{});
  } else {
    return t;
  }
}
template <class D, int... I>
ZELLIGE_STEP constexpr auto flat_strides_of(D const& d, seq<I...>);
template <class D>
ZELLIGE_STEP constexpr auto flat_strides(D const& d) {
  if constexpr (tuple_like<D>)
    return flat_strides_of(d, make_seq<tuple_size_v<D>>{});
  else
    return make_tuple(d);
}
template <class D, int... I>
ZELLIGE_STEP constexpr auto flat_strides_of(D const& d, seq<I...>) {
  return tuple_cat(flat_strides(get<I>(d))...);
}
/// Returns the strides of a user's type of operand t as a flat tuple, which is empty if t has none.
template <class T>
ZELLIGE_STEP constexpr auto user_strides(T const& t) {
  if constexpr (of_user_module<T>)
    return flat_strides(t.stride());
  else
    return tuple<>{};
}

/// Returns n times the stride d; d itself if n is the static 1.
template <class N, class D>
ZELLIGE_STEP constexpr auto times(N const& n, D const& d) {
  if constexpr (is_constant<1, N>::value)
    return d;
  else
    return int(n) * d;
}
template <class X, class All>
ZELLIGE_STEP constexpr auto put_in(X const& x, All const& all);
template <class X, class All, int... I>
ZELLIGE_STEP constexpr auto put_in_each(X const& x, All const& all, seq<I...>) {
  return make_tuple(put_in(get<I>(x), all)...);
}
template <class T, int N, class All>
ZELLIGE_STEP constexpr auto put_in_basis(ScaledBasis<T, N> const& x, All const& all) {
  return times(x.value(), get<N>(all));
}
/// Returns the stride x with each basis element E<i> replaced by the user's stride number i in `all`. A 0
/// becomes 0 times the first of these strides, the zero of the user's type.
template <class X, class All>
ZELLIGE_STEP constexpr auto put_in(X const& x, All const& all) {
  if constexpr (tuple_like<X>)
    return put_in_each(x, all, make_seq<tuple_size_v<X>>{});
  else if constexpr (basis_like<X>)
    return put_in_basis(x, all);
  else
    return int(x) * get<0>(all);
}
/// Returns the element of the user's type for coordinate x: the sum over i of x[i] times the user's stride
/// all[i].
template <class X, class All, int... I>
ZELLIGE_STEP constexpr auto sum_of(X const& x, All const& all, seq<I...>) {
  return (... + (int(get<I>(x)) * get<I>(all)));
}
/// Returns the result r of an operation on coordinates with its basis elements replaced by the user's strides
/// `all`.
template <class R, class All>
ZELLIGE_STEP constexpr auto back_from_coordinates(R const& r, All const& all);
template <class R, class All, int... I>
ZELLIGE_STEP constexpr auto back_each(R const& r, All const& all, seq<I...>) {
  return make_tuple(back_from_coordinates(get<I>(r), all)...);
}
template <class T>
inline constexpr bool is_arithmetic_tuple = false;
template <class... T>
inline constexpr bool is_arithmetic_tuple<ArithmeticTuple<T...>> = true;
template <class R, class All>
ZELLIGE_STEP constexpr auto back_from_coordinates(R const& r, All const& all) {
  if constexpr (is_layout_v<R>)
    return make_layout(r.shape(), put_in(r.stride(), all));
  else if constexpr (is_arithmetic_tuple<R>)
    return sum_of(r, all, make_seq<tuple_size_v<R>>{});
  else if constexpr (basis_like<R>)
    return put_in(r, all);
  else if constexpr (tuple_like<R>)
    return back_each(r, all, make_seq<tuple_size_v<R>>{});
  else
    return r;
}

template <auto op, class First, class... Rest>
ZELLIGE_STEP constexpr auto invoke_on_user_module(First const& first, Rest const&... rest);

/// True for a composed layout whose left part has strides of a user's type. The left part need not be linear
/// (it may be a table lookup), so operations apply to the layout on the right, and the left part is composed
/// with the result.
template <class T>
inline constexpr bool ends_in_user_module = false;
template <class A, class O, class B>
inline constexpr bool ends_in_user_module<ComposedLayout<A, O, B>> = of_user_module<A>;
/// Converts r, the result of an operation on the layout `right` of a composed layout c = left o offset o
/// right, to the result of the operation on c: left o offset o r. If r is a pair (layout, start), the start
/// is added to the offset. If r is neither, for example a number, returns r unchanged.
template <class C, class R>
ZELLIGE_STEP constexpr auto before(C const& c, R const& r) {
  if constexpr (layout_like<R>)
    return make_composed_layout(c.layout_a(), c.offset(), r);
  else if constexpr (tuple_like<R>)
    return make_tuple(make_composed_layout(c.layout_a(), c.offset() + get<1>(r), get<0>(r)), Int<0>{});
  else
    return r;
}
/// Returns true for operations that return a number of contiguous elements, which is 1 if strides have a
/// user's type.
ZELLIGE_ALGEBRA constexpr bool counts_elements_together(Op op) {
  return op == Op::max_common_vector || op == Op::max_alignment;
}
template <class Other>
ZELLIGE_ALGEBRA constexpr bool counts_elements_together(Other) {
  return false;
}
}  // namespace detail
}  // namespace zellige
