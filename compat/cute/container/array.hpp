// CuTe's header for array<T, N>; registers it with std::tuple_size for structured bindings.
#pragma once
#include <cute/container/tuple.hpp>
#include <zellige/container/array.hpp>

namespace std {

template <class T, size_t N>
struct tuple_size<zellige::array<T, N>> : CUTE_STL_NAMESPACE::integral_constant<zellige::size_t, N> {};
template <zellige::size_t I, class T, size_t N>
struct tuple_element<I, zellige::array<T, N>> {
  using type = T;
};

}  // namespace std
