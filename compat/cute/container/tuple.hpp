// CuTe's header for tuple; registers type_list with the standard library for structured bindings.
#pragma once
#include <cute/container/cuda_types.hpp>
#include <cute/container/type_list.hpp>
#include <cute/numeric/integer_sequence.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/equality.hpp>
#include <zellige/layout/structured_bindings.hpp>

namespace zellige {

// CuTe 3 had two tuples; Zellige's tuple corresponds to packed_tuple.
template <class... T>
using packed_tuple = tuple<T...>;
template <class... T>
ZELLIGE_HOST_DEVICE constexpr packed_tuple<T...> make_packed_tuple(T const&... t) {
  return {t...};
}
namespace eso {
template <class... T>
using ESO_t = tuple<T...>;
}
namespace detail {
using eso::ESO_t;
}

}  // namespace zellige

namespace std {

template <class... T>
struct tuple_size<zellige::type_list<T...>> : CUTE_STL_NAMESPACE::integral_constant<zellige::size_t, sizeof...(T)> {};
template <zellige::size_t I, class... T>
struct tuple_element<I, zellige::type_list<T...>> : tuple_element<I, zellige::tuple<T...>> {};

}  // namespace std
