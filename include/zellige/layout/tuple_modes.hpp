// Edits tuples whose elements may have any type: takes, adds, groups and rearranges modes.
//
//   append<3>(make_tuple(1), x)                                       is  (1, x, x)
//   take<1, 3>(make_tuple(1, 2, 3))                                   is  (2, 3)
//   group<0, 2>(make_tuple(1, 2, 3))                                  is  ((1, 2), 3)
//   zip(make_tuple(1, 2), make_tuple(3, 4))                           is  ((1, 3), (2, 4))
//   unflatten(make_tuple(1, 2, 3), make_tuple(0, make_tuple(0, 0)))   is  (1, (2, 3))
#pragma once
#include <zellige/layout/tuple_algorithms.hpp>

namespace zellige {

namespace detail {
/// True for tuples and their elements, false for layouts and tensors, which have functions of the same names.
template <class T>
concept no_layout = no_tensor<T> && !requires {
  remove_cvref_t<T>::layout_tag;
};
template <class T>
inline constexpr int rank_or_1 = tuple_like<T> ? tuple_size_v<remove_cvref_t<T>> : 1;

// Returns the tuple of the elements of t with indices I, then one copy of x per index in J, then the elements
// of t with indices K.
template <class T, class X, int... I, int... J, int... K>
ZELLIGE_HOST_DEVICE constexpr auto assemble(T const& t, X const& x, seq<I...>, seq<J...>, seq<K...>) {
  return make_tuple(get<I>(t)..., (void(J), x)..., get<K>(t)...);
}
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto pick(T const& t, seq<I...>) {
  return make_tuple(get<I>(t)...);
}
// Returns true. Compile error, whose message has both numbers, unless 0 <= N < count.
template <int N, int count>
ZELLIGE_HOST_DEVICE constexpr bool mode_exists() {
  if constexpr (N < 0 || N >= count) mode_is_out_of_range<N, count>();
  return N >= 0 && N < count;
}
template <int N, int... I>
ZELLIGE_HOST_DEVICE constexpr seq<(N - 1 - I)...> backwards(seq<I...>) {
  return {};
}
}  // namespace detail

/// make_rseq<N> is the sequence seq<N-1, ..., 1, 0>.
template <int N>
using make_rseq = decltype(detail::backwards<N>(make_seq<N>{}));
template <class T>
using tuple_rseq = make_rseq<(tuple_size_v<remove_cvref_t<T>>)>;

/// Returns the tuple of N copies of t.
template <int N, class T>
ZELLIGE_HOST_DEVICE constexpr auto tuple_repeat(T const& t) {
  return detail::assemble(0, t, seq<>{}, make_seq<N>{}, seq<>{});
}
/// Returns the tuple of N copies of t, or t itself if N is 1.
template <int N, class T>
ZELLIGE_HOST_DEVICE constexpr auto repeat(T const& t) {
  if constexpr (N == 1)
    return t;
  else
    return tuple_repeat<N>(t);
}
namespace detail {
template <class X>
struct always {
  X const& x;
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr X operator()(T const&) const {
    return x;
  }
};
}  // namespace detail
/// Returns a tuple with the nesting of t and x as every leaf.
template <class T, class X>
ZELLIGE_HOST_DEVICE constexpr auto repeat_like(T const& t, X const& x) {
  return transform_leaf(t, detail::always<X>{x});
}

/// Returns the first leaf of t; a reference to it if t is an lvalue.
template <class T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) front(T&& t) {
  if constexpr (tuple_like<T>)
    return front(get<0>(static_cast<T&&>(t)));
  else
    return T(static_cast<T&&>(t));
}
/// Returns the last leaf of t; a reference to it if t is an lvalue.
template <class T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) back(T&& t) {
  if constexpr (tuple_like<T>)
    return back(get<tuple_size_v<remove_cvref_t<T>> - 1>(static_cast<T&&>(t)));
  else
    return T(static_cast<T&&>(t));
}

/// Returns t if it is a tuple, else the tuple of one element t.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto wrap(T const& t) {
  if constexpr (tuple_like<T>)
    return t;
  else
    return make_tuple(t);
}
/// Returns t without enclosing tuples of one element: ((3)) becomes 3. Other values are returned unchanged.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto unwrap(T const& t) {
  if constexpr (detail::rank_or_1<T> == 1 && tuple_like<T>)
    return unwrap(get<0>(t));
  else
    return t;
}

/// Returns the tuple of modes B to E - 1 of t; E = -1 means the rank of t.
template <int B, int E, detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto take(T const& t) {
  constexpr int rank = detail::rank_or_1<T>, end = E == -1 ? rank : E;
  static_assert(B <= end, "take<B, E>: B is after E");
  if constexpr (B == end)
    return tuple<>{};
  else if constexpr (detail::mode_exists<B, rank>() && detail::mode_exists<end - 1, rank>())
    return detail::pick(t, make_range<B, end>{});
  else
    return tuple<>{};
}
/// Returns the modes of t that the indices I list, in the order of the list.
template <int... I, detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto select(T const& t) {
  return detail::pick(t, seq<I...>{});
}
/// Returns t with modes B to E - 1 grouped into one mode; E = -1 means the rank of t.
template <int B, int E, detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto group(T const& t) {
  constexpr int rank = detail::rank_or_1<T>, end = E == -1 ? rank : E;
  static_assert(B <= end, "group<B, E>: B is after E");
  return detail::assemble(t, take<B, end>(t), make_seq<B>{}, make_seq<(B < end)>{}, make_range<end, rank>{});
}

/// Returns t with x inserted before mode N.
template <int N, detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto insert(T const& t, X const& x) {
  return detail::assemble(t, x, make_seq<N>{}, seq<0>{}, make_range<N, detail::rank_or_1<T>>{});
}
/// Returns t without mode N.
template <int N, detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto remove(T const& t) {
  if constexpr (detail::mode_exists<N, detail::rank_or_1<T>>())
    return detail::assemble(t, 0, make_seq<N>{}, seq<>{}, make_range<N + 1, detail::rank_or_1<T>>{});
  else
    return t;
}
/// Returns t with mode N replaced by x.
template <int N, detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto replace(T const& t, X const& x) {
  if constexpr (!detail::mode_exists<N, detail::rank_or_1<T>>())
    return t;
  else if constexpr (tuple_like<T>)
    return detail::assemble(t, x, make_seq<N>{}, seq<0>{}, make_range<N + 1, tuple_size_v<T>>{});
  else
    return x;
}
template <detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto replace_front(T const& t, X const& x) {
  return replace<0>(t, x);
}
template <detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto replace_back(T const& t, X const& x) {
  return replace<detail::rank_or_1<T> - 1>(t, x);
}

/// Returns t with copies of x added at its end until it has N modes. Compile error if t has more than N
/// modes. A value that is not a tuple counts as one mode.
template <int N, detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  constexpr int rank = detail::rank_or_1<T>;
  static_assert(rank <= N, "append<N>: the tuple has more than N modes");
  if constexpr (rank >= N)
    return t;
  else if constexpr (tuple_like<T>)
    return detail::assemble(t, x, make_seq<rank>{}, make_seq<N - rank>{}, seq<>{});
  else
    return detail::assemble(make_tuple(t), x, seq<0>{}, make_seq<N - 1>{}, seq<>{});
}
/// Returns t with x as a new last mode.
template <detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  return append<detail::rank_or_1<T> + 1>(t, x);
}
/// Returns t with copies of x added before its first mode until it has N modes. Compile error if t has more
/// than N modes.
template <int N, detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  constexpr int rank = detail::rank_or_1<T>;
  static_assert(rank <= N, "prepend<N>: the tuple has more than N modes");
  if constexpr (rank >= N)
    return t;
  else if constexpr (tuple_like<T>)
    return detail::assemble(t, x, seq<>{}, make_seq<N - rank>{}, make_seq<rank>{});
  else
    return detail::assemble(make_tuple(t), x, seq<>{}, make_seq<N - 1>{}, seq<0>{});
}
/// Returns t with x as a new first mode.
template <detail::no_layout T, class X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return prepend<detail::rank_or_1<T> + 1>(t, x);
}

/// Returns t with its modes in reverse order.
template <detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto reverse(T const& t) {
  if constexpr (tuple_like<T>)
    return detail::pick(t, tuple_rseq<T>{});
  else
    return t;
}

/// True if T has no nested tuple.
template <class T>
struct is_flat;
namespace detail {
template <class T, class S>
inline constexpr bool all_elements_are_leaves = true;
template <class T, int... I>
inline constexpr bool all_elements_are_leaves<T, seq<I...>> = !(is_tuple_v<tuple_element_t<I, T>> || ...);
}  // namespace detail
template <class T>
struct is_flat : bool_constant<detail::all_elements_are_leaves<T, make_seq<(is_tuple_v<T> ? tuple_size_v<T> : 0)>>> {};
template <class... T>
struct is_flat<tuple<T...>> : bool_constant<!(is_tuple_v<T> || ...)> {};
namespace detail {
struct leaves_of {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t) const {
    if constexpr (!tuple_like<T>)
      return make_tuple(t);
    else if constexpr (is_flat<T>::value)
      return t;
    else
      return filter_tuple(t, *this);
  }
};
}  // namespace detail
/// Returns all leaves of t as one flat tuple; a value t that is not a tuple becomes a tuple of one element.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto flatten_to_tuple(T const& t) {
  return detail::leaves_of{}(t);
}
/// Returns all leaves of t as one flat tuple; a value t that is not a tuple is returned unchanged.
template <detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto flatten(T const& t) {
  if constexpr (tuple_like<T>)
    return detail::leaves_of{}(t);
  else
    return t;
}
namespace detail {
template <class P>
inline constexpr int leaf_count = 1;
template <class... P>
inline constexpr int leaf_count<tuple<P...>> = (0 + ... + leaf_count<P>);
// Returns a tuple with the nesting of `profile`, whose leaves are the elements of the tuple `flat` from
// number B on.
template <int B, class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto fill_profile(T const& flat, P const& profile);
template <int B, int I, class T, class P, class Done>
ZELLIGE_HOST_DEVICE constexpr auto fill_profiles(T const& flat, P const& profile, Done const& done) {
  if constexpr (I == tuple_size_v<P>) {
    return done;
  } else {
    using Part = tuple_element_t<I, P>;
    return fill_profiles<B + leaf_count<Part>, I + 1>(
        flat, profile, tuple_cat(done, make_tuple(fill_profile<B>(flat, get<I>(profile)))));
  }
}
template <int B, class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto fill_profile(T const& flat, P const& profile) {
  if constexpr (tuple_like<P>)
    return fill_profiles<B, 0>(flat, profile, tuple<>{});
  else
    return get<B>(flat);
}
}  // namespace detail
/// Returns a tuple with the nesting of `profile`, whose leaves are the elements of the tuple `flat`. Compile
/// error unless `flat` has one element per leaf of the profile.
template <detail::no_layout T, class P>
ZELLIGE_HOST_DEVICE constexpr auto unflatten(T const& flat, P const& profile) {
  static_assert(detail::leaf_count<P> == detail::rank_or_1<T>,
                "unflatten: the profile's number of leaves differs from the tuple's number of elements");
  return detail::fill_profile<0>(flat, profile);
}

namespace detail {
// Returns (t0[J], t1[J], ...): column J of a tuple t of rows t0, t1, ...
template <int J, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto column(T const& t, seq<I...>) {
  return make_tuple(get<J>(get<I>(t))...);
}
template <class T, int... J>
ZELLIGE_HOST_DEVICE constexpr auto columns(T const& t, seq<J...>) {
  return make_tuple(column<J>(t, tuple_seq<T>{})...);
}
struct are_of_one_rank {
  template <class T, class... U>
  ZELLIGE_HOST_DEVICE constexpr void operator()(T const&, U const&...) const {
    require_one_rank<T, U...>();
  }
};
}  // namespace detail
/// Returns a tuple of tuples transposed: ((a, b, c), (d, e, f)) becomes ((a, d), (b, e), (c, f)). The inner
/// tuples must have the same rank.
template <detail::no_layout T>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t) {
  if constexpr (!tuple_like<T>) {
    return t;
  } else if constexpr (!tuple_like<tuple_element_t<0, T>>) {
    return make_tuple(t);
  } else {
    apply(t, detail::are_of_one_rank{});
    return detail::columns(t, tuple_seq<tuple_element_t<0, T>>{});
  }
}
/// Returns the elements of several tuples of the same rank combined: ((t0, u0, ...), (t1, u1, ...), ...).
template <detail::no_layout T, detail::no_layout U, detail::no_layout... R>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t, U const& u, R const&... rest) {
  return zip(make_tuple(t, u, rest...));
}

namespace detail {
template <class T, class G, int... I, int... J>
ZELLIGE_HOST_DEVICE constexpr auto zip2_modes(T const& t, G const& guide, seq<I...>, seq<J...>);
}  // namespace detail
/// Splits a tuple t of pairs into the pair (tuple of the first elements, tuple of the second elements). The
/// guide is a tuple with a leaf where t has a pair: t = ((a, A), ((b, B), (c, C)), d) with the guide (x, (x,
/// x)) gives ((a, (b, c)), (A, (B, C), d)). Modes of t beyond the guide go to the second tuple.
template <detail::no_layout T, class G>
ZELLIGE_HOST_DEVICE constexpr auto zip2_by(T const& t, G const& guide) {
  if constexpr (tuple_like<G>) {
    static_assert(tuple_size_v<T> >= tuple_size_v<G>, "zip2_by: the guide has more modes than the tuple");
    return detail::zip2_modes(t, guide, tuple_seq<G>{}, make_range<tuple_size_v<G>, tuple_size_v<T>>{});
  } else {
    static_assert(tuple_size_v<T> == 2, "zip2_by: where the guide has a leaf the tuple must have a pair");
    return t;
  }
}
namespace detail {
template <class T, class G, int... I, int... J>
ZELLIGE_HOST_DEVICE constexpr auto zip2_modes(T const& t, G const& guide, seq<I...>, seq<J...>) {
  auto const split = make_tuple(zip2_by(get<I>(t), get<I>(guide))...);
  return make_tuple(make_tuple(get<0>(get<I>(split))...), make_tuple(get<1>(get<I>(split))..., get<J>(t)...));
}
}  // namespace detail

}  // namespace zellige
