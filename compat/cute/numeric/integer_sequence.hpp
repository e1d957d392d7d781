// CuTe's header for integer sequences: make_int_sequence, make_int_range and similar. Zellige's seq<I...> is
// int_sequence<I...>; the algorithms on tuples also accept the standard library's sequences.
#pragma once
#include <cute/numeric/integral_constant.hpp>
#include <cute/util/type_traits.hpp>
#include <zellige/layout/tuple_modes.hpp>

namespace zellige {

namespace detail {
template <class T, class S>
struct sequence_of;
template <class T, int... I>
struct sequence_of<T, seq<I...>> {
  using type = integer_sequence<T, T(I)...>;
};
}  // namespace detail
template <class T, T N>
using make_integer_sequence = typename detail::sequence_of<T, make_seq<int(N)>>::type;

namespace detail {
template <class T, T Begin, class S>
struct shifted_sequence;
template <class T, T Begin, T... v>
struct shifted_sequence<T, Begin, integer_sequence<T, v...>> {
  using type = integer_sequence<T, T(Begin + v)...>;
  using reversed = integer_sequence<T, T(T(sizeof...(v)) - 1 - v)...>;
};
}  // namespace detail
/// The sequence Begin, ..., End - 1; empty if End <= Begin. make_integer_sequence_reverse is N - 1, ..., 0.
template <class T, T Begin, T End>
using make_integer_range =
    typename detail::shifted_sequence<T, Begin, make_integer_sequence<T, (End > Begin ? End - Begin : 0)>>::type;
template <class T, T N>
using make_integer_sequence_reverse = typename detail::shifted_sequence<T, 0, make_integer_sequence<T, N>>::reversed;

template <int... I>
using int_sequence = integer_sequence<int, I...>;
template <int N>
using make_int_sequence = make_integer_sequence<int, N>;
template <int N>
using make_int_rsequence = make_integer_sequence_reverse<int, N>;
template <int Begin, int End>
using make_int_range = make_integer_range<int, Begin, End>;
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;
template <size_t N>
using make_index_rsequence = make_integer_sequence_reverse<size_t, N>;
template <size_t Begin, size_t End>
using make_index_range = make_integer_range<size_t, Begin, End>;

/// Converts a tuple of static integers, or an integer sequence, to a seq.
template <class T>
struct to_seq;
template <int... I>
struct to_seq<integer_sequence<int, I...>> {
  using type = seq<I...>;
};
template <template <class...> class Tuple, class... T>
struct to_seq<Tuple<T...>> {
  using type = seq<int(T::value)...>;
};
template <class T>
using to_seq_t = typename to_seq<T>::type;

}  // namespace zellige
