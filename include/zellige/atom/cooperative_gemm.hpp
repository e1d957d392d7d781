// cooperative_gemm: multiplies matrices in shared memory with all threads of a TiledMMA. Each thread passes
// its thread index.
//
//   cooperative_gemm(tid, mma, alpha, sA, sB, beta, sC);          sC = alpha * sA * sB^T + beta * sC
//   cooperative_gemm(tid, mma, sA, sB, rC);                       rC += sA * sB^T; rC: registers
//
// rC is a thread's fragment from partition_fragment_C. Optional arguments follow: the functions applied to
// each value of A, B and C when it is loaded and to each value of C when it is stored, then the copy
// instructions for loading A, B and C and for storing C. Tensors whose extents are no multiples of the MMA's
// tile are copied value by value. The caller needs a barrier before reading sC.
#pragma once

#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tiled_mma.hpp>
#include <zellige/tensor/cooperative.hpp>

namespace zellige {
namespace detail {

/// True if the extents M, N and K of A (M, K) and B (N, K) are multiples of the tile of the TiledMMA.
template <class Mma, class A, class B>
inline constexpr bool tiles_divide = decltype(evenly_divides(
    make_shape(size<0>(lvalue<A const>()), size<0>(lvalue<B const>()), size<1>(lvalue<A const>())),
    tile_shape(lvalue<Mma const>())))::value;

/// Sets to(i) = T(f(from(i))) for every i, where T is the element type of `to`.
template <class From, class To, class F>
ZELLIGE_HOST_DEVICE constexpr void convert_each(From const& from, To&& to, F const& f) {
  using T = typename remove_cvref_t<To>::value_type;
  ZELLIGE_UNROLL
  for (int i = 0; i < int(size(to)); ++i) to(i) = static_cast<T>(f(loaded(from(i))));
}

/// Adds load_a(A) * load_b(B)^T to `rc`, the accumulators of thread `tid`. A is (M, K) and B is (N, K); their
/// extents are multiples of the MMA's tile. For each K block, copies A and B to registers with the
/// instructions CopyA and CopyB, and multiplies them.
template <class CopyA, class CopyB, class Mma, class A, class B, class RC, class LoadA, class LoadB>
ZELLIGE_HOST_DEVICE constexpr void multiply_tiles(unsigned tid, Mma const& mma, A const& a, B const& b, RC& rc,
                                                  LoadA const& load_a, LoadB const& load_b) {
  using TA = typename A::value_type;
  using TB = typename B::value_type;
  auto const mine = mma.get_slice(tid);
  // raw_a and raw_b have the element types of A and B in memory; ra and rb have those of the matrix
  // instruction.
  auto raw_a = make_fragment_like<TA>(mine.partition_A(a));
  auto raw_b = make_fragment_like<TB>(mine.partition_B(b));
  auto ra = make_fragment_like<typename Mma::FrgTypeA>(raw_a);
  auto rb = make_fragment_like<typename Mma::FrgTypeB>(raw_b);
  auto const copy_a = make_tiled_copy_A(Copy_Atom<CopyA, TA>{}, mma);
  auto const copy_b = make_tiled_copy_B(Copy_Atom<CopyB, TB>{}, mma);
  auto const from_a = copy_a.get_slice(tid).partition_S(a);
  auto const from_b = copy_b.get_slice(tid).partition_S(b);
  auto to_a = copy_a.get_slice(tid).retile_D(raw_a);
  auto to_b = copy_b.get_slice(tid).retile_D(raw_b);
  Underscore const _{};
  constexpr int blocks = decltype(size<2>(ra))::value;
  ZELLIGE_UNROLL
  for (int k = 0; k < blocks; ++k) {
    copy(copy_a, from_a(_, _, k), to_a(_, _, k));
    copy(copy_b, from_b(_, _, k), to_b(_, _, k));
    convert_each(raw_a(_, _, k), ra(_, _, k), load_a);
    convert_each(raw_b(_, _, k), rb(_, _, k), load_b);
    gemm(mma, ra(_, _, k), rb(_, _, k), rc);
  }
}

/// Sets r, a thread's registers, to load(e) for each element e of part(x), the thread's partition of tensor
/// x. Sets r to zero where the partition reaches beyond the extents of x, in its last tiles.
template <class Part, class X, class R, class Load>
ZELLIGE_HOST_DEVICE constexpr void load_inside(Part const& part, X const& x, R&& r, Load const& load) {
  using T = typename remove_cvref_t<R>::value_type;
  auto const from = part(x);
  auto const at = part(make_identity_tensor(shape(x)));
  ZELLIGE_UNROLL
  for (int i = 0; i < int(size(r)); ++i)
    r(i) = elem_less(at(i), shape(x)) ? static_cast<T>(load(loaded(from(i)))) : T{};
}
/// Adds load_a(A) * load_b(B)^T to `rc`, the accumulators of thread `tid`. A is (M, K) and B is (N, K); their
/// extents need not be multiples of the MMA's tile. Loads A and B value by value.
template <class Mma, class A, class B, class RC, class LoadA, class LoadB>
ZELLIGE_HOST_DEVICE constexpr void multiply_inside(unsigned tid, Mma const& mma, A const& a, B const& b, RC& rc,
                                                   LoadA const& load_a, LoadB const& load_b) {
  auto const mine = mma.get_slice(tid);
  auto ra = make_fragment_like<typename Mma::FrgTypeA>(mine.partition_A(a));
  auto rb = make_fragment_like<typename Mma::FrgTypeB>(mine.partition_B(b));
  load_inside([&](auto const& x) { return mine.partition_A(x); }, a, ra, load_a);
  load_inside([&](auto const& x) { return mine.partition_B(x); }, b, rb, load_b);
  gemm(mma, ra, rb, rc);
}

/// Returns alpha * sum + beta * before, where `sum` is an accumulator and `before` the old element of C. Returns
/// alpha * sum if `reads` is false, which means that C is not read.
template <class Alpha, class Beta, class RC, class T>
ZELLIGE_HOST_DEVICE constexpr auto scaled(Alpha const& alpha, RC const& sum, bool reads, Beta const& beta,
                                          T const& before) {
  using R = decltype(alpha * sum + beta * before);
  return reads ? R(alpha * sum + beta * before) : R(alpha * sum);
}

}  // namespace detail

/// Adds load_a(A) * load_b(B)^T to `rc`, the fragment of thread `tid` from partition_fragment_C. A is (M, K)
/// and B is (N, K). All threads of `mma` call it.
template <class... Args, tensor_like A, tensor_like B, tensor_like RC, class LoadA = as_it_is, class LoadB = as_it_is,
          class CopyA = DefaultCopy, class CopyB = DefaultCopy>
ZELLIGE_HOST_DEVICE constexpr void cooperative_gemm(unsigned tid, TiledMMA<Args...> const& mma, A const& a, B const& b,
                                                    RC&& rc, LoadA const& load_a = {}, LoadB const& load_b = {},
                                                    CopyA const& = {}, CopyB const& = {}) {
  static_assert(A::rank == 2 && B::rank == 2, "cooperative_gemm: A is (M, K) and B (N, K)");
  if constexpr (detail::tiles_divide<TiledMMA<Args...>, A, B>)
    detail::multiply_tiles<CopyA, CopyB>(tid, mma, a, b, rc, load_a, load_b);
  else
    detail::multiply_inside(tid, mma, a, b, rc, load_a, load_b);
}

/// Sets C = store(alpha * load_a(A) * load_b(B)^T + beta * load_c(C)), where A is (M, K), B is (N, K) and C is
/// (M, N). All threads of `mma` call it; thread `tid` writes its own elements of C. C is not read if beta is 0.
/// Fails to compile if static extents of A, B and C differ, or if `mma` has more than one thread along K: each of these
/// would store the sum of its part of K.
template <class... Args, class Alpha, tensor_like A, tensor_like B, class Beta, tensor_like C, class LoadA = as_it_is,
          class LoadB = as_it_is, class LoadC = as_it_is, class Store = as_it_is, class CopyA = DefaultCopy,
          class CopyB = DefaultCopy, class CopyInC = DefaultCopy, class CopyOutC = DefaultCopy>
requires(!tensor_like<Alpha>) ZELLIGE_HOST_DEVICE
    constexpr void cooperative_gemm(unsigned tid, TiledMMA<Args...> const& mma, Alpha const& alpha, A const& a,
                                    B const& b, Beta const& beta, C&& c, LoadA const& load_a = {},
                                    LoadB const& load_b = {}, LoadC const& load_c = {}, Store const& store = {},
                                    CopyA const& in_a = {}, CopyB const& in_b = {}, CopyInC const& = {},
                                    CopyOutC const& = {}) {
  using CT = remove_cvref_t<C>;
  using T = typename CT::value_type;
  static_assert(A::rank == 2 && B::rank == 2 && CT::rank == 2, "cooperative_gemm: A is (M, K), B (N, K) and C (M, N)");
  static_assert(decltype(size<3>(mma.get_thr_layout_vmnk()))::value == 1,
                "cooperative_gemm: the threads along K hold partial results of the same elements");
  constexpr detail::GemmMisfit misfit = detail::find_misfit<CT, A, B, CT>();
  if constexpr (misfit != detail::GemmMisfit::none) {
    detail::refuse_product<Algorithm::cooperative_gemm, misfit>(a, b, c);
  } else {
    auto const mine = mma.get_slice(tid);
    auto const in_place = mine.partition_C(c);
    auto sums = make_fragment_like<typename TiledMMA<Args...>::FrgTypeC>(in_place);
    using Sum = typename decltype(sums)::value_type;
    ZELLIGE_UNROLL
    for (int i = 0; i < int(size(sums)); ++i) sums(i) = Sum{};
    cooperative_gemm(tid, mma, a, b, sums, load_a, load_b, in_a, in_b);
    bool const reads = !(beta == Beta(0));
    if constexpr (detail::tiles_divide<TiledMMA<Args...>, A, B>) {
      auto values = make_fragment_like<T>(sums);
      if (reads) {
        auto const copy_in = make_tiled_copy_C(Copy_Atom<CopyInC, T>{}, mma);
        copy(copy_in, copy_in.get_slice(tid).partition_S(c), copy_in.get_slice(tid).retile_D(values));
      }
      ZELLIGE_UNROLL
      for (int i = 0; i < int(size(sums)); ++i)
        values(i) = T(
            store(detail::scaled(alpha, sums(i), reads, beta, reads ? static_cast<Sum>(load_c(T(values(i)))) : Sum{})));
      auto const copy_out = make_tiled_copy_C(Copy_Atom<CopyOutC, T>{}, mma);
      copy(copy_out, copy_out.get_slice(tid).retile_S(values), copy_out.get_slice(tid).partition_D(c));
    } else {
      auto const at = mine.partition_C(make_identity_tensor(shape(c)));
      ZELLIGE_UNROLL
      for (int i = 0; i < int(size(sums)); ++i) {
        if (elem_less(at(i), shape(c)))
          in_place(i) = T(store(
              detail::scaled(alpha, sums(i), reads, beta, reads ? static_cast<Sum>(load_c(T(in_place(i)))) : Sum{})));
      }
    }
  }
}

/// CuTe 3's name of cooperative_gemm(tid, mma, alpha, a, b, beta, c, ...). `mine` is the ThrMMA of one thread
/// and provides `tid` and `mma`.
template <class Tiled, class At, class Alpha, tensor_like A, tensor_like B, class Beta, tensor_like C,
          class LoadA = as_it_is, class LoadB = as_it_is, class LoadC = as_it_is, class Store = as_it_is>
requires(!tensor_like<Alpha>) ZELLIGE_HOST_DEVICE
    constexpr void gemm(ThrMMA<Tiled, At> const& mine, Alpha const& alpha, A const& a, B const& b, Beta const& beta,
                        C&& c, LoadA const& load_a = {}, LoadB const& load_b = {}, LoadC const& load_c = {},
                        Store const& store = {}) {
  // The thread index is the value of the thread layout (V, M, N, K) at the ThrMMA's coordinate.
  cooperative_gemm(unsigned(crd2idx(mine.thr_vmnk_, mine.thr_layout_vmnk_.shape(), mine.thr_layout_vmnk_.stride())),
                   static_cast<Tiled const&>(mine), alpha, a, b, beta, c, load_a, load_b, load_c, store);
}

}  // namespace zellige
