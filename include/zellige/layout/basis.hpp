// Defines coordinates that can be added and scaled, for layouts that map to coordinates. E<0, 1>{} is the basis element
// with 1 in mode 1 of mode 0, and zeros elsewhere. A multiple of a basis element is a ScaledBasis. A sum of basis
// elements is an ArithmeticTuple, a coordinate whose missing trailing modes count as zero:
//
//   2 * E<0>{} + 3 * E<1>{}   is  (2, 3)           5 * E<0, 1>{}   prints as  5@1@0  and is  ((0, 5))
//
// A layout whose strides are basis elements maps coordinates to coordinates; an identity layout and the
// tensors of TMA coordinates are such layouts.
#pragma once
#include <zellige/layout/int_tuple.hpp>

namespace zellige {

/// A basis element times a number: `value()` in the mode that the mode indices N... select (outermost first),
/// zero elsewhere. E<N...> is the basis element itself, with value 1.
template <class T, int... N>
struct ScaledBasis : private tuple<T> {
  static constexpr bool basis_tag = true;
  ZELLIGE_HOST_DEVICE constexpr ScaledBasis(T const& t = {}) : tuple<T>(t) {}
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) value() const { return get<0>(static_cast<tuple<T> const&>(*this)); }
  /// Returns the outermost mode index of the basis element as a static integer.
  ZELLIGE_HOST_DEVICE static constexpr auto mode() {
    if constexpr (sizeof...(N) > 0) return first_of<N...>();
  }

 private:
  template <int first, int... more>
  ZELLIGE_HOST_DEVICE static constexpr Int<first> first_of() {
    return {};
  }
};
template <int... N>
using E = ScaledBasis<Int<1>, N...>;

template <class T>
concept basis_like = requires {
  remove_cvref_t<T>::basis_tag;
};
template <class T>
struct is_scaled_basis : bool_constant<basis_like<T>> {};

/// A tuple of numbers or nested tuples with + and -, element by element; missing trailing elements count as
/// 0.
template <class... T>
struct ArithmeticTuple : tuple<T...> {
  using tuple<T...>::tuple;
  ZELLIGE_HOST_DEVICE constexpr ArithmeticTuple() {}
  ZELLIGE_HOST_DEVICE constexpr ArithmeticTuple(tuple<T...> const& t) : tuple<T...>(t) {}
};
template <class... T>
ArithmeticTuple(T const&...) -> ArithmeticTuple<T...>;
template <class... T>
inline constexpr bool is_own_tuple_v<ArithmeticTuple<T...>> = true;
template <class... T>
inline constexpr int tuple_size_v<ArithmeticTuple<T...>> = sizeof...(T);
template <class T>
inline constexpr bool is_arithmetic_tuple_v = false;
template <class... T>
inline constexpr bool is_arithmetic_tuple_v<ArithmeticTuple<T...>> = true;
template <class T>
concept arithmetic_tuple = is_arithmetic_tuple_v<remove_cvref_t<T>>;
/// True for coordinates that can be added: basis elements and arithmetic tuples.
template <class T>
concept module_element = basis_like<T> || arithmetic_tuple<T>;

template <class... T>
ZELLIGE_HOST_DEVICE constexpr ArithmeticTuple<T...> make_arithmetic_tuple(T const&... t) {
  return {t...};
}

namespace detail {
template <class... T>
ZELLIGE_HOST_DEVICE constexpr ArithmeticTuple<T...> arithmetic(tuple<T...> const& t) {
  return t;
}
// Returns the arithmetic tuple that has `value` in the mode that the mode indices seq<N, R...> select, and
// zeros before it. Without mode indices, returns `value`.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T place(T const& value, seq<>) {
  return value;
}
template <class T, int... Z, class U>
ZELLIGE_HOST_DEVICE constexpr auto after_zeros(U const& last, seq<Z...>) {
  return make_arithmetic_tuple(Int<0 * Z>{}..., last);
}
template <class T, int N, int... R>
ZELLIGE_HOST_DEVICE constexpr auto place(T const& value, seq<N, R...>) {
  return after_zeros<T>(place(value, seq<R...>{}), make_seq<N>{});
}
}  // namespace detail

/// Converts a tuple or basis element to an ArithmeticTuple; any other value is returned unchanged.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto as_arithmetic_tuple(T const& t) {
  if constexpr (arithmetic_tuple<T>)
    return t;
  else if constexpr (tuple_like<T>)
    return detail::arithmetic(t);
  else
    return t;
}
template <class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto as_arithmetic_tuple(ScaledBasis<T, N...> const& e) {
  return detail::place(e.value(), seq<N...>{});
}

template <integral A, class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto operator*(A const& a, ScaledBasis<T, N...> const& e) {
  auto const r = detail::product_of_two(a, e.value());
  return ScaledBasis<remove_cvref_t<decltype(r)>, N...>(r);
}
template <integral A, class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto operator*(ScaledBasis<T, N...> const& e, A const& a) {
  auto const r = detail::product_of_two(e.value(), a);
  return ScaledBasis<remove_cvref_t<decltype(r)>, N...>(r);
}
template <class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto operator-(ScaledBasis<T, N...> const& e) {
  return Int<-1>{} * e;
}
template <class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto abs(ScaledBasis<T, N...> const& e) {
  auto const r = abs(e.value());
  return ScaledBasis<remove_cvref_t<decltype(r)>, N...>(r);
}
template <class T, int... N, class U, int... M>
ZELLIGE_HOST_DEVICE constexpr auto operator==(ScaledBasis<T, N...> const& a, ScaledBasis<U, M...> const& b) {
  if constexpr (is_same_v<seq<N...>, seq<M...>>)
    return a.value() == b.value();
  else
    return false_type{};
}
template <class T, int... N>
ZELLIGE_HOST_DEVICE constexpr auto basis_value(ScaledBasis<T, N...> const& e) {
  return e.value();
}
/// Returns the mode of the tuple t that the basis element selects: get<N...>(t), or t itself for E<>.
template <class S, int... N, class T>
ZELLIGE_HOST_DEVICE constexpr auto basis_get(ScaledBasis<S, N...> const&, T const& t) {
  if constexpr (sizeof...(N) == 0)
    return t;
  else
    return get<N...>(t);
}

namespace detail {
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto module_add(A const& a, B const& b);
template <int I, class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto add_mode(A const& a, B const& b) {
  if constexpr (I >= tuple_size_v<A>)
    return get<I>(b);
  else if constexpr (I >= tuple_size_v<B>)
    return get<I>(a);
  else
    return module_add(get<I>(a), get<I>(b));
}
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto add_modes(A const& a, B const& b, seq<I...>) {
  return make_arithmetic_tuple(add_mode<I>(a, b)...);
}
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto module_add(A const& a, B const& b) {
  if constexpr (basis_like<A>) {
    return module_add(as_arithmetic_tuple(a), b);
  } else if constexpr (basis_like<B>) {
    return module_add(a, as_arithmetic_tuple(b));
  } else if constexpr (tuple_like<A> && tuple_like<B>) {
    constexpr int n = tuple_size_v<A>, m = tuple_size_v<B>;
    return add_modes(a, b, make_seq<(n > m ? n : m)>{});
  } else if constexpr (is_constant<0, A>::value && tuple_like<B>) {
    return as_arithmetic_tuple(b);
  } else if constexpr (is_constant<0, B>::value && tuple_like<A>) {
    return as_arithmetic_tuple(a);
  } else {
    static_assert(tuple_like<A> == tuple_like<B>,
                  "a coordinate and a number are added: elements of different integer-modules have no sum");
    if constexpr (tuple_like<A> == tuple_like<B>)
      return a + b;
    else
      return Int<0>{};
  }
}
template <class A, int... I>
ZELLIGE_HOST_DEVICE constexpr auto negative_of(A const& a, seq<I...>);
template <class A>
ZELLIGE_HOST_DEVICE constexpr auto negative(A const& a) {
  if constexpr (tuple_like<A>)
    return negative_of(a, make_seq<tuple_size_v<A>>{});
  else
    return -a;
}
template <class A, int... I>
ZELLIGE_HOST_DEVICE constexpr auto negative_of(A const& a, seq<I...>) {
  return make_arithmetic_tuple(negative(get<I>(a))...);
}
}  // namespace detail

template <class A, class B>
requires((module_element<A> && (module_element<B> || tuple_like<B> || integral<B>)) ||
         (module_element<B> && (tuple_like<A> || integral<A>))) ZELLIGE_HOST_DEVICE constexpr auto
operator+(A const& a, B const& b) {
  return detail::module_add(a, b);
}
template <arithmetic_tuple A>
ZELLIGE_HOST_DEVICE constexpr auto operator-(A const& a) {
  return detail::negative(a);
}
template <class A, class B>
requires((arithmetic_tuple<A> && (module_element<B> || tuple_like<B>)) ||
         (tuple_like<A> && arithmetic_tuple<B>)) ZELLIGE_HOST_DEVICE constexpr auto
operator-(A const& a, B const& b) {
  return detail::module_add(a, detail::negative(as_arithmetic_tuple(b)));
}

namespace detail {
template <class S, int... N>
ZELLIGE_HOST_DEVICE constexpr auto basis_over(S const& shape, seq<N...> path);
template <class S, int... N, int... I>
ZELLIGE_HOST_DEVICE constexpr auto basis_modes(S const& shape, seq<N...>, seq<I...>) {
  return make_tuple(basis_over(get<I>(shape), seq<N..., I>{})...);
}
template <class S, int... N>
ZELLIGE_HOST_DEVICE constexpr auto basis_over(S const& shape, seq<N...> path) {
  if constexpr (tuple_like<S>)
    return basis_modes(shape, path, make_seq<tuple_size_v<S>>{});
  else if constexpr (sizeof...(N) == 0)
    return Int<1>{};
  else
    return E<N...>{};
}
}  // namespace detail
/// Returns the strides of the identity layout of a shape: basis elements (_1@0, _1@1, ...) in the nesting of
/// the shape.
template <class S>
ZELLIGE_HOST_DEVICE constexpr auto make_basis_like(S const& shape) {
  return detail::basis_over(shape, seq<>{});
}

}  // namespace zellige
