// Enables structured bindings for tuples, shapes and coordinates:
//
//   auto [rows, columns] = layout.shape();
#pragma once
#include <zellige/layout/basis.hpp>

#if defined(__CUDACC_RTC__)
namespace std {
template <class T>
struct tuple_size;
template <zellige::size_t I, class T>
struct tuple_element;
}  // namespace std
#else
#include <utility>  // std::tuple_size, std::tuple_element
#endif

namespace std {
template <class... T>
struct tuple_size<zellige::tuple<T...>> : zellige::C<zellige::size_t(sizeof...(T))> {};
template <zellige::size_t I, class... T>
struct tuple_element<I, zellige::tuple<T...>> {
  using type = zellige::tuple_element_t<int(I), zellige::tuple<T...>>;
};
template <class... T>
struct tuple_size<zellige::ArithmeticTuple<T...>> : tuple_size<zellige::tuple<T...>> {};
template <zellige::size_t I, class... T>
struct tuple_element<I, zellige::ArithmeticTuple<T...>> : tuple_element<I, zellige::tuple<T...>> {};
}  // namespace std
