// Checks the preconditions of the algorithms on tensors: equal sizes, and no partial tiles. A condition that static
// numbers violate is a compile error; a call of an algorithm causes at most one such error.
#pragma once
#include <zellige/tensor/tensor.hpp>

namespace zellige::detail {

/// Reports an error if the view with this out-of-bounds record has out-of-bounds elements. A view without a
/// record is accepted.
template <Algorithm algorithm>
ZELLIGE_HOST_DEVICE constexpr void refuse_overhang(NoOverhang) {}
template <Algorithm algorithm>
ZELLIGE_HOST_DEVICE constexpr void refuse_overhang(Overhang const& over) {
  if (over.tile != 0)
    broken(algorithm, "a tile of {x} hangs over the end of a tensor whose extent is {y}; copy_if takes a predicate",
           over.tile, over.extent);
}
/// Reports an error unless all elements of all tensors x are in bounds.
template <Algorithm algorithm, class... X>
ZELLIGE_HOST_DEVICE constexpr void require_whole(X const&... x) {
  (refuse_overhang<algorithm>(overhang_of(x)), ...);
}

template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE consteval int first_clash_of(seq<I...>) {
  int first = -1;
  ((first < 0 && clash<decltype(size<I>(lvalue<A const>())), decltype(size<I>(lvalue<B const>()))> ? first = I : 0),
   ...);
  return first;
}
/// The first mode whose static sizes differ, or -1 if there is none.
template <class A, class B>
inline constexpr int first_clash = first_clash_of<A, B>(make_seq<A::rank>{});

template <Algorithm algorithm, class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr void check_modes(A const& a, B const& b, seq<I...>) {
  (check_same(algorithm, "a mode has the sizes {x} and {y}; they must be the same", size<I>(a), size<I>(b)), ...);
}
/// Reports an error unless a and b have equal ranks and equal sizes in each mode.
template <Algorithm algorithm, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same_shape(A const& a, B const& b) {
  if constexpr (A::rank != B::rank) {
    tensors_differ_in_rank<algorithm, A::rank, B::rank>();
  } else if constexpr (A::rank > 0) {
    constexpr int mode = first_clash<A, B>;
    if constexpr (mode >= 0)
      sizes_differ_in_a_mode<algorithm, decltype(size<mode>(a))::value, decltype(size<mode>(b))::value>();
    else
      check_modes<algorithm>(a, b, make_seq<A::rank>{});
  }
}
/// Reports an error unless the numbers of elements a and b are equal.
template <Algorithm algorithm, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same_size(A const& a, B const& b) {
  if constexpr (clash<A, B>)
    sizes_differ_in_a_mode<algorithm, A::value, B::value>();
  else
    check_same(algorithm, "the tensors have {x} and {y} elements; the numbers must be equal", a, b);
}
/// Reports an error if a predicate tensor has fewer elements (`available`) than are copied (`needed`).
template <Algorithm algorithm, class P, class N>
ZELLIGE_HOST_DEVICE constexpr void require_as_many(P const& available, N const& needed) {
  if constexpr (is_static_integer_v<P> && is_static_integer_v<N>) {
    if constexpr (P::value < N::value) sizes_differ_in_a_mode<algorithm, P::value, N::value>();
  } else if (int(available) < int(needed)) {
    check_same(algorithm, "the predicate has {x} elements, the tensors {y}", available, needed);
  }
}
/// True if the numbers of elements of tensors A and B are static and differ.
template <class A, class B>
inline constexpr bool counts_clash = clash<decltype(size(lvalue<A const>())), decltype(size(lvalue<B const>()))>;
/// Reports an error unless a and b have the same number of elements; their modes may differ. For tensors of
/// equal rank, the error names the sizes of the first mode that differs.
template <Algorithm algorithm, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same_count(A const& a, B const& b) {
  if constexpr (counts_clash<A, B> && A::rank == B::rank && A::rank > 0)
    require_same_shape<algorithm>(a, b);
  else
    require_same_size<algorithm>(size(a), size(b));
}
/// False if the numbers of elements of tensors A and B are static and differ: an algorithm then does nothing
/// after the error.
template <class A, class B>
inline constexpr bool same_counts = !counts_clash<A, B>;
/// Reports an error unless a and b have the same number of elements, and all of them are in bounds. Causes at
/// most one compile error: if same_counts<A, B> is false, the caller must do nothing after this call.
template <Algorithm algorithm, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void require_same_counts(A const& a, B const& b) {
  require_same_count<algorithm>(a, b);
  if constexpr (!counts_clash<A, B>) require_whole<algorithm>(a, b);
}

}  // namespace zellige::detail
