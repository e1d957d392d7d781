// Defines type_list<T...>: an object that represents a list of types. get<I>(list) returns an object of the I-th type,
// and find<T>(list) returns the index of the first T.
#pragma once
#include <zellige/layout/tuple_algorithms.hpp>

namespace zellige {

/// A list of types; an empty class.
template <class... T>
struct type_list {};

template <class... T>
struct foreign_tuple<type_list<T...>> {
  static constexpr int size = sizeof...(T);
  template <int I>
  using element = tuple_element_t<I, tuple<T...>>;
  template <int I>
  ZELLIGE_HOST_DEVICE static constexpr element<I> get(type_list<T...>) {
    return {};
  }
};
/// find<X>(list): returns the static index of the first X in the list, or the length of the list if there is
/// none.
template <class X, class... T>
ZELLIGE_HOST_DEVICE constexpr auto find(type_list<T...> const&) {
  return C<size_t(detail::first_of_type<X, 0, T...>())>{};
}

/// The static index of the first true condition, or the number of conditions if there is none.
template <bool... b>
struct find_true : C<size_t(detail::first_of_type<true_type, 0, C<b>...>())> {};
template <bool... b>
inline constexpr size_t find_true_v = find_true<b...>::value;

}  // namespace zellige
