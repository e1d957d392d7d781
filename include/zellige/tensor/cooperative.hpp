// Copies and multiplies tensors in shared or global memory with all threads of a block. Every thread makes the call
// and passes its own index.
//
//   cooperative_copy<128, 128>(tid, gA, sA);              128 threads, up to 128 bits per access
//   cooperative_gemm<128>(tid, 1.f, sA, sB, 0.f, sC);     sC = 1 * sA * sB^T + 0 * sC by multiply and add
//
// Every element is written by exactly one thread, for any number of threads. The functions contain no barrier: the
// caller must synchronise before the result is read.
#pragma once
#include <zellige/tensor/copy.hpp>
#include <zellige/tensor/gemm.hpp>

namespace zellige {

namespace detail {
/// The layout of a swizzled layout without its swizzle.
template <class L>
struct without_swizzle {
  using type = L;
};
template <int B, int M, int S, class O, class L>
struct without_swizzle<ComposedLayout<Swizzle<B, M, S>, O, L>> {
  using type = L;
};
/// The layout of tensor X without its swizzle.
template <class X>
using linear_layout = typename without_swizzle<remove_cvref_t<decltype(lvalue<X const>().layout())>>::type;
/// Returns how many elements of a tensor X can be enumerated in memory order, by the right inverse of its
/// layout (without the swizzle); 0 if no right inverse is known at compile time.
template <class X>
ZELLIGE_ALGEBRA consteval long long walk_size() {
  using L = linear_layout<X>;
  if constexpr (!is_static_v<L>) {
    return 0;
  } else {
    using P = fitting_plan<Op::right_inverse, L>;
    constexpr auto const& p = P::value;
    if (p.refusal || !P::fits || p.nodes[0].kind != ValueKind::layout) return 0;
    long long n = 1;
    for (int i = 0; i < p.node_count; ++i) n *= p.nodes[i].kids < 0 ? p.nodes[i].s.v : 1;
    return n;
  }
}
/// Returns a score of how much accesses to a tensor X slow down if they do not follow its memory order: 4 if
/// it is swizzled, plus 2 if it is in shared memory.
template <class X>
ZELLIGE_ALGEBRA consteval int walk_score() {
  return 4 * (get_swizzle_t<typename X::iterator>::num_bits != 0 ||
              get_swizzle_t<typename X::layout_type>::num_bits != 0) +
         2 * is_smem_v<X>;
}
/// Selects the tensor in whose memory order the threads access the elements: returns 1 for A, 2 for B, 0 for
/// neither. A tensor qualifies if its memory order is static and enumerates every element. If both qualify,
/// selects the tensor that loses more by scattered accesses: a swizzled tensor before one in shared memory
/// before one in global memory.
template <class A, class B>
ZELLIGE_ALGEBRA consteval int walk_leader() {
  bool const a =
      is_static_v<linear_layout<A>> && walk_size<A>() == static_product<remove_cvref_t<decltype(lvalue<A>().shape())>>;
  bool const b =
      is_static_v<linear_layout<B>> && walk_size<B>() == static_product<remove_cvref_t<decltype(lvalue<B>().shape())>>;
  if (a && b) return walk_score<B>() > walk_score<A>() ? 2 : 1;
  return a ? 1 : b ? 2 : 0;
}
/// True if layout L can be composed with the order at compile time.
template <class L, class Order>
inline constexpr bool can_walk = !plan<Op::composition, L, Order>::value.refusal;

/// The policy of a cooperative copy that is complete on return.
struct AtOnce {};
/// How a thread of a cooperative copy sets an element under a policy: at once. A policy of asynchronous copies
/// specialises this.
template <class Policy>
struct element_by {
  template <class S, class D>
  ZELLIGE_HOST_DEVICE static constexpr void copy(S const& src, D const& dst, int i) {
    dst(i) = src(i);
  }
};
/// True if layout L can be sliced whatever its numbers are. A slice of a swizzle with an offset other than 0 cannot: where
/// the sum of offset and index carries into bits that the swizzle reads, no layout has its elements.
template <class L>
inline constexpr bool slices_always = true;
template <class A, class O, class L>
inline constexpr bool slices_always<ComposedLayout<A, O, L>> = slices_always<L>;
template <int B, int M, int S, class O, class Shape, class Stride>
inline constexpr bool slices_always<ComposedLayout<Swizzle<B, M, S>, O, Layout<Shape, Stride>>> =
    is_constant<0, O>::value;
/// True if T gives each of `threads` threads an index, and layouts S and D can be divided by it at compile time.
template <int threads, class T, class S, class D>
inline constexpr bool can_share =
    static_product<remove_cvref_t<decltype(lvalue<T const>().shape())>> == threads &&
    !plan<Op::logical_divide, S, T>::value.refusal && !plan<Op::logical_divide, D, T>::value.refusal;
/// The layout that spreads threads over the modes of layout L, of static shape.
template <int threads, class L>
using spread = remove_cvref_t<decltype(domain_distribute(lvalue<L const>().shape(), Int<threads>{}))>;
/// Returns the layout thread -> linear coordinate of its first element, by which both S and D can be divided:
/// consecutive elements if possible, else threads spread over the modes of S or of D. Returns `_` if none of these can,
/// if a slice could be refused, or if `count` elements are no equal share for each thread.
template <int threads, int count, class S, class D>
ZELLIGE_ALGEBRA consteval auto thread_layout() {
  if constexpr (count % threads != 0 || !slices_always<S> || !slices_always<D>)
    return _;
  else if constexpr (can_share<threads, Layout<Int<threads>>, S, D>)
    return Layout<Int<threads>>{};
  else if constexpr (can_share<threads, spread<threads, S>, S, D>)
    return spread<threads, S>{};
  else if constexpr (can_share<threads, spread<threads, D>, S, D>)
    return spread<threads, D>{};
  else
    return _;
}
/// Returns the elements of x that thread tid copies, where `threads` maps each thread to its first element. One slice
/// computes what the addresses of all these elements have in common, that of a swizzle included.
template <class X, class L>
ZELLIGE_HOST_DEVICE constexpr auto share(int tid, X const& x, L const& threads) {
  return view(x.data(), logical_divide(x.layout(), threads), NoOverhang{})(tid, _);
}
/// Copies the elements with linear coordinates tid, tid + threads, tid + 2 threads, ... from src to dst; if the threads
/// share the elements equally, those that thread_layout gives to thread tid.
template <int threads, class Policy, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_strided(unsigned tid, S const& src, D const& dst) {
  int const first = int(tid);
  if constexpr (is_static_integer_v<decltype(src.size())>) {
    constexpr int count = decltype(src.size())::value, rounds = count / threads;
    constexpr auto by_thread = thread_layout<threads, count, typename S::layout_type, typename D::layout_type>();
    if constexpr (!is_underscore_v<remove_cvref_t<decltype(by_thread)>>) {
      auto const from = share(first, src, by_thread);
      auto const to = share(first, dst, by_thread);
      ZELLIGE_UNROLL
      for (int k = 0; k < rounds; ++k) element_by<Policy>::copy(from, to, k);
    } else {
      ZELLIGE_UNROLL
      for (int k = 0; k < rounds; ++k) element_by<Policy>::copy(src, dst, first + k * threads);
      if constexpr (count % threads != 0) {
        if (first < count % threads) element_by<Policy>::copy(src, dst, first + rounds * threads);
      }
    }
  } else {
    for (int i = first; i < int(src.size()); i += threads) element_by<Policy>::copy(src, dst, i);
  }
}
/// Copies from src to dst the elements with linear coordinates order(tid), order(tid + threads), ...
template <int threads, class Policy, class S, class D, class Order>
ZELLIGE_HOST_DEVICE constexpr void copy_walk(unsigned tid, S const& src, D const& dst, Order const& order) {
  copy_strided<threads, Policy>(tid, view(src.data(), composition(src.layout(), order), NoOverhang{}),
                                view(dst.data(), composition(dst.layout(), order), NoOverhang{}));
}
/// Copies the share of thread `tid` from src to dst: every `threads`-th element. The elements are counted in the
/// memory order of the tensor that walk_leader selects if possible, otherwise by linear coordinates.
template <int threads, class Policy, class S, class D>
ZELLIGE_HOST_DEVICE constexpr void copy_together(unsigned tid, S const& src, D const& dst) {
  constexpr int leader = walk_leader<S, D>();
  using L = conditional_t<leader == 1, linear_layout<S>, linear_layout<D>>;
  if constexpr (leader == 0) {
    copy_strided<threads, Policy>(tid, src, dst);
  } else {
    using Order = remove_cvref_t<decltype(right_inverse(lvalue<L const>()))>;
    if constexpr (can_walk<typename S::layout_type, Order> && can_walk<typename D::layout_type, Order>)
      copy_walk<threads, Policy>(tid, src, dst, Order{});
    else
      copy_strided<threads, Policy>(tid, src, dst);
  }
}
/// Returns how many bits, at most max_bits, one thread copies per access from S to D, or 0 if it copies single
/// elements. If S has a static layout, the width is halved until there is a vector for every thread, but not
/// below one element.
template <int threads, int max_bits, class S, class D>
ZELLIGE_ALGEBRA consteval int cooperative_bits() {
  int bits = vector_bits<max_bits, S, D>();
  if constexpr (is_static_v<typename S::layout_type>) {
    long long const total =
        static_product<remove_cvref_t<decltype(lvalue<S>().shape())>> * sizeof_bits_v<typename S::value_type>;
    while (bits > 8 && bits / 2 >= sizeof_bits_v<typename S::value_type> && total / bits < threads) bits /= 2;
  }
  return bits > sizeof_bits_v<typename S::value_type> ? bits : 0;
}
/// `Policy` if S has a static size that the threads share equally, else AtOnce: what a caller need not wait for with
/// CuTe, it need not wait for here.
template <int threads, class Policy, class S, class Shape = remove_cvref_t<decltype(lvalue<S>().shape())>>
using shared_policy = conditional_t<is_static_v<Shape> && static_product<Shape> % threads == 0, Policy, AtOnce>;
}  // namespace detail

/// Copies src to dst with threads 0 to NumThreads - 1, at most MaxVecBits bits per access. `tid` is the
/// thread's index. Neither tensor may be in registers. The caller synchronises. With the policy AutoCopyAsync the
/// copies are by cp.async where they can be (atom/copy_call.hpp), and the caller waits for them.
template <int NumThreads, int MaxVecBits, tensor_like S, tensor_like D, class Policy = detail::AtOnce>
ZELLIGE_HOST_DEVICE constexpr void cooperative_copy(unsigned tid, S const& src, D&& dst, Policy const& = {}) {
  using By = detail::shared_policy<NumThreads, Policy, S>;
  using DT = remove_cvref_t<D>;
  using T = typename DT::value_type;
  constexpr auto c = Algorithm::cooperative_copy;
  static_assert(detail::stands_on_memory<DT> && !is_same_v<typename DT::memory, rmem_tag>,
                "cooperative_copy(tid, src, dst): dst must be memory that the threads share, not one's registers");
  static_assert(!(detail::stands_on_memory<S> && is_same_v<typename S::engine_type::memory, rmem_tag>),
                "cooperative_copy(tid, src, dst): src must be memory that the threads share, not one's registers");
  static_assert(MaxVecBits == sizeof_bits_v<T> || MaxVecBits == sizeof_bits_v<typename S::value_type> ||
                    (MaxVecBits >= 8 && MaxVecBits <= 128 && (MaxVecBits & (MaxVecBits - 1)) == 0),
                "cooperative_copy<threads, bits>: the bits of an element, or 8, 16, 32, 64 or 128");
  detail::require_same_counts<c>(src, dst);
  if constexpr (detail::same_counts<S, DT>) {
#if ZELLIGE_CHECK
    if (tid >= unsigned(NumThreads)) detail::broken(c, "thread {x} of {y} takes part", tid, NumThreads);
#endif
    constexpr int bits = detail::cooperative_bits<NumThreads, MaxVecBits, S, DT>();
    if constexpr (bits > 0) {
      if (!__builtin_is_constant_evaluated()) {
#if ZELLIGE_CHECK
        constexpr int n = bits / sizeof_bits_v<T>;
        if (!detail::is_in_step<bits / 8, n>(src) || !detail::is_in_step<bits / 8, n>(dst))
          detail::broken(c, detail::not_in_step(), MaxVecBits, bits / 8);
#endif
        return detail::copy_together<NumThreads, By>(tid, recast<detail::chunk<bits / 8> const>(src),
                                                     recast<detail::chunk<bits / 8>>(dst));
      }
    } else if constexpr (sizeof_bits_v<T> % 8 != 0 && NumThreads > 1) {
      two_threads_would_write_parts_of_one_byte<c, sizeof_bits_v<T>, 8>();
    }
    if constexpr (bits > 0 || sizeof_bits_v<T> % 8 == 0 || NumThreads == 1)
      detail::copy_together<NumThreads, By>(tid, detail::view_of(src, src.data(), src.layout()),
                                            detail::view_of(dst, dst.data(), dst.layout()));
  }
}
/// Copies src to dst with threads 0 to NumThreads - 1, one element (at least a byte) per access.
template <int NumThreads, tensor_like S, tensor_like D, class Policy = detail::AtOnce>
ZELLIGE_HOST_DEVICE constexpr void cooperative_copy(unsigned tid, S const& src, D&& dst, Policy const& policy = {}) {
  constexpr int bits = sizeof_bits_v<typename S::value_type>;
  cooperative_copy<NumThreads, (bits < 8 ? 8 : bits)>(tid, src, dst, policy);
}

/// Returns its argument: the default transformation of loaded and stored values.
struct as_it_is {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr T operator()(T const& x) const {
    return x;
  }
};

/// Computes C(m,n) = store(alpha * sum over k of load_a(A(m,k)) * load_b(B(n,k)) + beta * load_c(C(m,n)))
/// with multiply and add. C is not read if beta is 0. `tid` is the thread's index. The caller synchronises.
ZELLIGE_CALLS_BACK
template <int NumThreads, class Alpha, tensor_like A, tensor_like B, class Beta, tensor_like C, class LoadA = as_it_is,
          class LoadB = as_it_is, class LoadC = as_it_is, class Store = as_it_is>
ZELLIGE_HOST_DEVICE constexpr void cooperative_gemm(unsigned tid, Alpha const& alpha, A const& a, B const& b,
                                                    Beta const& beta, C&& c, LoadA const& load_a = {},
                                                    LoadB const& load_b = {}, LoadC const& load_c = {},
                                                    Store const& store = {}) {
  using CT = remove_cvref_t<C>;
  constexpr auto g = Algorithm::cooperative_gemm;
  constexpr detail::GemmMisfit misfit = detail::find_misfit<CT, A, B, CT>();
  if constexpr (A::rank != 2 || B::rank != 2 || CT::rank != 2) {
    no_product_of_such_ranks_needed_are_222<g, A::rank, B::rank, CT::rank>();
  } else if constexpr (misfit != detail::GemmMisfit::none) {
    detail::refuse_product<g, misfit>(a, b, c);
  } else {
    detail::check_product<g>(a, b, c);
    bool const reads = !(beta == Beta(0));
    int const rows = int(size<0>(c)), count = rows * int(size<1>(c)), depth = int(size<1>(a));
    for (int i = int(tid); i < count; i += NumThreads) {
      int const m = i % rows, n = i / rows;
      typename CT::value_type sum{};
      for (int k = 0; k < depth; ++k) sum = load_a(detail::loaded(a(m, k))) * load_b(detail::loaded(b(n, k))) + sum;
      if (reads)
        c(m, n) = store(alpha * sum + beta * load_c(detail::loaded(c(m, n))));
      else
        c(m, n) = store(alpha * sum);
    }
  }
}

}  // namespace zellige
