// TMA loads of pairs of CTAs, under CuTe's names: both CTAs of a pair issue one, each for its part of a tile, and the bytes of
// both complete on the mbarrier of the pair's first CTA. The matrix instructions 2x1SM read such tiles.
//
//   auto tma = make_tma_atom_A_sm100(SM100_TMA_2SM_LOAD{}, a, shared_layout, tile_mnk, mma, cluster_vmnk);
//   if (first CTA) set_barrier_transaction_bytes(full, bytes of both);
//   copy(tma.with(full, mask), tAgA(_, k), tAsA);
//
// SM100_TMA_2SM_LOAD_2D::copy(&map, &barrier, uint64_t(CacheHint::normal), tile, x, y) issues one instruction. Compile for
// sm_100a, sm_103a or another of sm_10x.
#pragma once

#include <zellige/atom/copy_traits/tma_names.hpp>
#include <zellige/atom/tma_im2col.hpp>
#include <zellige/atom/tma_operands.hpp>
#if defined(__CUDACC__)
#include <zellige/atom/tma_call.hpp>
#include <zellige/atom/tma_pair_load.hpp>
#elif defined(ZELLIGE_EMULATE)
#include <zellige/atom/tma_call.hpp>
#include <zellige/atom/tma_pair_emulated.hpp>
#endif

namespace zellige {

namespace detail {

/// A TMA load of a pair of CTAs: a row of PTX. Of `dims` dimensions, or of as many as its call has coordinates if that is 0.
template <bool is_im2col, bool is_multicast, int dims>
struct TmaPairOp {
  static constexpr bool im2col = is_im2col, multicast = is_multicast;

#if defined(__CUDA_ARCH__)
  /// Issues the load with these coordinates, and the offsets of a filter's tap if it is im2col.
  template <class... C>
  ZELLIGE_CALL static void issue(void* tile, void const* map, uint64_t const* barrier, uint16_t mask, uint64_t hint,
                                 C const&... coordinates) {
    constexpr int all = int(sizeof...(C)), n = is_im2col ? (all + 2) / 2 : all, m = all - n;
    static_assert(dims == 0 || dims == n,
                  "copy of this instruction takes another number of operands, one for each coordinate");
    static_assert(n >= (is_im2col ? 3 : 1) && n <= 5 && m == (is_im2col ? n - 2 : 0),
                  "a load by TMA has 1 to 5 coordinates; of im2col it has 3 to 5, and 1 to 3 offsets");
    using Text = LettersOf<TmaMnemonic<is_im2col ? TmaMode::im2col : TmaMode::tile, n, true, is_multicast>>;
    int const given[] = {int(coordinates)...};
    int c[n];
    uint16_t o[m == 0 ? 1 : m] = {};
    ZELLIGE_UNROLL
    for (int i = 0; i < all; ++i)
      if (i < n)
        c[i] = given[i];
      else
        o[i - n] = static_cast<uint16_t>(given[i]);
    tma_issue<Text, is_multicast, n, m>(smem_address(tile), map, smem_address(barrier) & first_of_pair, mask, hint, c,
                                        o);
  }
#elif defined(ZELLIGE_EMULATE)
  template <class Tile, class... C>
  ZELLIGE_CALL static void issue(Tile tile, void const* map, uint64_t* barrier, uint16_t mask, uint64_t,
                                 C const&... coordinates) {
    tma_pair_emulated<is_im2col, is_multicast>(tile, map, emulate::known(barrier), mask, coordinates...);
  }
#endif
};
template <int dims>
struct TmaPairLoad : TmaPairOp<false, false, dims> {
  template <class... C>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] void const* map, [[maybe_unused]] uint64_t* barrier,
                                       [[maybe_unused]] uint64_t hint, [[maybe_unused]] void* tile,
                                       [[maybe_unused]] C const&... c) {
#if defined(__CUDA_ARCH__)
    TmaPairLoad::issue(tile, map, barrier, 0, hint, c...);
#endif
  }
};
template <int dims>
struct TmaPairMulticast : TmaPairOp<false, true, dims> {
  template <class... C>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] void const* map, [[maybe_unused]] uint64_t* barrier,
                                       [[maybe_unused]] uint16_t mask, [[maybe_unused]] uint64_t hint,
                                       [[maybe_unused]] void* tile, [[maybe_unused]] C const&... c) {
#if defined(__CUDA_ARCH__)
    TmaPairMulticast::issue(tile, map, barrier, mask, hint, c...);
#endif
  }
};
template <int dims>
struct TmaPairIm2col : TmaPairOp<true, false, dims> {
  template <class... C>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] void const* map, [[maybe_unused]] uint64_t* barrier,
                                       [[maybe_unused]] void* tile, [[maybe_unused]] C const&... c) {
#if defined(__CUDA_ARCH__)
    TmaPairIm2col::issue(tile, map, barrier, 0, uint64_t(CacheHint::normal), c...);
#endif
  }
};
template <int dims>
struct TmaPairIm2colMulticast : TmaPairOp<true, true, dims> {
  template <class... C>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] void const* map, [[maybe_unused]] uint64_t* barrier,
                                       [[maybe_unused]] uint16_t mask, [[maybe_unused]] void* tile,
                                       [[maybe_unused]] C const&... c) {
#if defined(__CUDA_ARCH__)
    TmaPairIm2colMulticast::issue(tile, map, barrier, mask, uint64_t(CacheHint::normal), c...);
#endif
  }
};

/// The threads of these copies are the two CTAs: each moves Bits bits.
template <class Op, class Bits>
struct TmaPairLayouts {
  using ThrID = Layout<_2>;
  using SrcLayout = Layout<Shape<_2, Bits>, Stride<Bits, _1>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
};
}  // namespace detail

struct SM100_TMA_2SM_LOAD : detail::TmaPairLoad<0> {
  using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
struct SM100_TMA_2SM_LOAD_MULTICAST : detail::TmaPairMulticast<0> {
  using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
struct SM100_TMA_2SM_LOAD_IM2COL : detail::TmaPairIm2col<0> {
  using PREFETCH = SM90_TMA_LOAD_IM2COL::PREFETCH;
};
struct SM100_TMA_2SM_LOAD_IM2COL_MULTICAST : detail::TmaPairIm2colMulticast<0> {
  using PREFETCH = SM90_TMA_LOAD_IM2COL::PREFETCH;
};
#define ZELLIGE_TMA_PAIR_OF(n)                                               \
  struct SM100_TMA_2SM_LOAD_##n##D : detail::TmaPairLoad<n> {                \
    using PREFETCH = SM90_TMA_LOAD_##n##D::PREFETCH;                         \
  };                                                                         \
  struct SM100_TMA_2SM_LOAD_MULTICAST_##n##D : detail::TmaPairMulticast<n> { \
    using PREFETCH = SM90_TMA_LOAD_##n##D::PREFETCH;                         \
  };
ZELLIGE_TMA_PAIR_OF(1)
ZELLIGE_TMA_PAIR_OF(2)
ZELLIGE_TMA_PAIR_OF(3)
ZELLIGE_TMA_PAIR_OF(4)
ZELLIGE_TMA_PAIR_OF(5)
#undef ZELLIGE_TMA_PAIR_OF
struct SM100_TMA_2SM_LOAD_IM2COL_3D : detail::TmaPairIm2col<3> {};
struct SM100_TMA_2SM_LOAD_IM2COL_4D : detail::TmaPairIm2col<4> {};
struct SM100_TMA_2SM_LOAD_IM2COL_5D : detail::TmaPairIm2col<5> {};
struct SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_3D : detail::TmaPairIm2colMulticast<3> {};
struct SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_4D : detail::TmaPairIm2colMulticast<4> {};
struct SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_5D : detail::TmaPairIm2colMulticast<5> {};
/// Loads that are ready to be issued: the results of `with`.
struct SM100_TMA_2SM_LOAD_OP : SM100_TMA_2SM_LOAD {};
struct SM100_TMA_2SM_LOAD_MULTICAST_OP : SM100_TMA_2SM_LOAD_MULTICAST {};
struct SM100_TMA_2SM_LOAD_IM2COL_OP : SM100_TMA_2SM_LOAD_IM2COL {};
struct SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_OP : SM100_TMA_2SM_LOAD_IM2COL_MULTICAST {};

namespace detail {
template <>
struct tma_form<SM100_TMA_2SM_LOAD> : tma_form<SM90_TMA_LOAD> {};
template <>
struct tma_form<SM100_TMA_2SM_LOAD_MULTICAST> : tma_form<SM90_TMA_LOAD_MULTICAST> {};

/// Traits of a load of a pair with all its run-time arguments.
template <class Op, class Bits>
struct tma_pair_run_traits : TmaPairLayouts<Op, Bits> {
  TmaDescriptor const* descriptor;
  uint64_t* barrier;
  uint16_t mask;
  CacheHint hint;
  ZELLIGE_HOST_DEVICE constexpr TmaDescriptor const* get_tma_descriptor() const { return descriptor; }
};
/// Traits of a load of a pair: its descriptor, and how the tensor's modes are TMA coordinates. Base is tma_traits or
/// im2col_traits, Run the instruction that `with` returns.
template <class Op, class Run, class Bits, class Base>
struct tma_pair_traits : Base {
  using ThrID = typename TmaPairLayouts<Op, Bits>::ThrID;
  using SrcLayout = typename TmaPairLayouts<Op, Bits>::SrcLayout;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;

  /// Returns this load with its run-time arguments: it completes on the barrier at this address in the pair's first CTA;
  /// a multicast writes to the CTAs of `mask`.
  ZELLIGE_HOST_DEVICE constexpr auto with(uint64_t& barrier, uint16_t mask = 0,
                                          CacheHint hint = CacheHint::normal) const {
    return with(&this->tma_desc_, barrier, mask, hint);
  }
  ZELLIGE_HOST_DEVICE constexpr auto with(TmaDescriptor const* descriptor, uint64_t& barrier, uint16_t mask = 0,
                                          CacheHint hint = CacheHint::normal) const {
    return Copy_Traits<Run, Bits>{{{}, descriptor, &barrier, mask, hint}};
  }
};
}  // namespace detail

#define ZELLIGE_TMA_PAIR_TRAITS(op, base)                                            \
  template <class Bits>                                                              \
  struct Copy_Traits<op##_OP, Bits> : detail::tma_pair_run_traits<op##_OP, Bits> {}; \
  template <class Bits, class More>                                                  \
  struct Copy_Traits<op, Bits, More> : detail::tma_pair_traits<op, op##_OP, Bits, detail::base<op, Bits, More>> {};
ZELLIGE_TMA_PAIR_TRAITS(SM100_TMA_2SM_LOAD, tma_traits)
ZELLIGE_TMA_PAIR_TRAITS(SM100_TMA_2SM_LOAD_MULTICAST, tma_traits)
ZELLIGE_TMA_PAIR_TRAITS(SM100_TMA_2SM_LOAD_IM2COL, im2col_traits)
ZELLIGE_TMA_PAIR_TRAITS(SM100_TMA_2SM_LOAD_IM2COL_MULTICAST, im2col_traits)
#undef ZELLIGE_TMA_PAIR_TRAITS

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {
/// Issues the load of the box at coordinate crd, a tuple or one number; of im2col, (c, (w, h, d), n, (s, r, t)).
template <class Op, class Tile, class Traits, class Crd, int... I>
ZELLIGE_DEVICE inline void load_of_pair([[maybe_unused]] Traits const& traits, [[maybe_unused]] Tile tile,
                                        [[maybe_unused]] Crd const& crd, seq<I...>) {
#if defined(__CUDA_ARCH__) || defined(ZELLIGE_EMULATE)
  if constexpr (Op::im2col)
    Op::issue(tile, traits.descriptor, traits.barrier, traits.mask, uint64_t(traits.hint), int(get<0>(crd)),
              int(get<1, I>(crd))..., int(get<2>(crd)), int(get<3, I>(crd))...);
  else
    Op::issue(tile, traits.descriptor, traits.barrier, traits.mask, uint64_t(traits.hint), coordinate<I>(crd)...);
#endif
}
}  // namespace detail

template <class Op, class Bits, tensor_like TS, tensor_like TD>
requires(requires { Op::im2col; }) ZELLIGE_DEVICE
    inline void copy_unpack(Copy_Traits<Op, Bits> const& traits, TS const& src, TD&& dst) {
  static_assert(is_smem_v<remove_cvref_t<TD>>, "SM100_TMA_2SM_LOAD writes shared memory: make_smem_ptr");
  auto const tile = instruction_address(raw_tile(dst.data()));
  if constexpr (Op::im2col) {
    auto const crd = src(Int<0>{});
    detail::load_of_pair<Op>(traits, tile, crd, make_seq<tuple_size_v<remove_cvref_t<decltype(get<1>(crd))>>>{});
  } else {
    detail::load_of_pair<Op>(traits, tile, *src.data(), detail::coordinate_modes<TS>{});
  }
}
#endif

}  // namespace zellige
