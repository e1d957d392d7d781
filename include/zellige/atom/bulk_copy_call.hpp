// Implements copy(...) by bulk copies (cp.async.bulk), which move contiguous bytes between tensors in global and
// shared memory, without a TMA descriptor. One thread calls it.
//
//   copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}.with(barrier), gRow, sRow);    global to shared
//   copy(Copy_Traits<SM90_BULK_COPY_AUTO>{}, sRow, gRow);                  shared to global, in a bulk group
//   copy(Copy_Atom<SM90_BULK_COPY_AUTO, half_t>{}.with(barrier), gRow, sRow);      the same as an atom
//
// SM90_BULK_COPY_AUTO determines the longest run of elements that is contiguous in both tensors, and issues
// one copy per run. SM90_BULK_COPY_G2S and SM90_BULK_COPY_S2G copy a fixed number of bits per instruction and
// are tiled like any other copy atom.
#pragma once

#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/tma_call.hpp>

namespace zellige {

/// SM90_BULK_COPY_G2S once it has its mbarrier, from .with(barrier); only then can it run.
struct SM90_BULK_COPY_G2S_OP : SM90_BULK_COPY_G2S {};

/// A bulk load of `Bits` bits, with the mbarrier on which it completes.
template <class Bits>
struct Copy_Traits<SM90_BULK_COPY_G2S_OP, Bits> {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_G2S_OP;
  smem<uint64_t> barrier;
};
namespace detail {
// One instruction copies `Bits` contiguous bits; both addresses must be multiples of 128 bits.
template <class Bits, class S, class D>
struct access_of<Copy_Traits<SM90_BULK_COPY_G2S_OP, Bits>, S, D> {
  static constexpr VectorAccess value = {int(Bits::value), int(Bits::value), 128, 128};
};
template <class Bits, class S, class D>
struct access_of<Copy_Traits<SM90_BULK_COPY_S2G, Bits>, S, D> {
  static constexpr VectorAccess value = {int(Bits::value), int(Bits::value), 128, 128};
};
}  // namespace detail
template <class Bits>
template <class Barrier>
ZELLIGE_HOST_DEVICE auto Copy_Traits<SM90_BULK_COPY_G2S, Bits>::with(Barrier&& barrier) const {
  return Copy_Traits<SM90_BULK_COPY_G2S_OP, Bits>{detail::barrier_pointer(barrier)};
}
template <class Bits, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_BULK_COPY_G2S_OP, Bits> const& traits, TS const& src,
                                       TD&& dst) {
  static_assert(is_gmem_v<TS> && is_smem_v<remove_cvref_t<TD>>,
                "SM90_BULK_COPY_G2S copies from global to shared memory: make_gmem_ptr, make_smem_ptr");
  bulk_load(first_address(dst), first_address(src), Bits::value / 8, traits.barrier);
}
template <class Bits, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<SM90_BULK_COPY_S2G, Bits> const&, TS const& src, TD&& dst) {
  static_assert(is_smem_v<TS> && is_gmem_v<remove_cvref_t<TD>>,
                "SM90_BULK_COPY_S2G copies from shared to global memory: make_smem_ptr, make_gmem_ptr");
  bulk_store(first_address(dst), first_address(src), Bits::value / 8);
}

/// A bulk load of runs of elements that are contiguous in both tensors, as long as possible, with the
/// mbarrier on which the load completes.
template <>
struct Copy_Traits<SM90_BULK_COPY_AUTO, smem<uint64_t>> : detail::bulk_auto_layouts {
  ZELLIGE_HOST_DEVICE constexpr Copy_Traits(smem<uint64_t> completes_on) : barrier(completes_on) {}
  smem<uint64_t> barrier;
};
template <class Barrier>
ZELLIGE_HOST_DEVICE auto Copy_Traits<SM90_BULK_COPY_AUTO>::with(Barrier&& completes_on) const {
  return Copy_Traits<SM90_BULK_COPY_AUTO, smem<uint64_t>>{detail::barrier_pointer(completes_on)};
}

namespace detail {
/// Copies `src` to `dst` with one bulk copy per run, where a run is the longest sequence of elements that is
/// contiguous in both tensors and is not split by a swizzle. Uses bulk_load if `barrier` is passed, else bulk_store.
/// Fails to compile if a run is no multiple of 16 bytes.
template <tensor_like S, tensor_like D, class... Barrier>
ZELLIGE_DEVICE inline void each_common_run(S const& src, D& dst, Barrier const&... barrier) {
  static_assert(same_representation<S, remove_cvref_t<D>>,
                "SM90_BULK_COPY_AUTO: source and destination differ in type");
  using DT = remove_cvref_t<D>;
  auto const common = max_common_layout(src.layout(), dst.layout());
  // A run is at most as long as the bits that the swizzles of both pointers keep contiguous.
  constexpr int each = sizeof_bits_v<typename S::value_type>;
  constexpr long long kept = bits_kept_together<typename S::iterator> < bits_kept_together<typename DT::iterator>
                                 ? bits_kept_together<typename S::iterator>
                                 : bits_kept_together<typename DT::iterator>;
  constexpr int in_common = size_v<remove_cvref_t<decltype(common)>>;
  constexpr int elements =
      in_common * each <= kept
          ? in_common
          : decltype(gcd(Int<in_common>{}, Int<int(kept < in_common * each ? kept / each : 1)>{}))::value;
  constexpr int bits = elements * each;
  static_assert(bits % 128 == 0,
                "SM90_BULK_COPY_AUTO: what is contiguous in both source and destination is no multiple of 16 "
                "bytes");
  auto const run = composition(common, Layout<Int<elements>>{});
  auto const from = zipped_divide(src, run);
  auto const to = zipped_divide(dst, run);
  ZELLIGE_UNROLL
  for (int i = 0; i < int(size<1>(from)); ++i) {
    auto const target = first_address(to(Underscore{}, i));
    auto const source = first_address(from(Underscore{}, i));
    if constexpr (sizeof...(Barrier) == 1)
      bulk_load(target, source, unsigned(bits / 8), barrier...);
    else
      bulk_store(target, source, unsigned(bits / 8));
  }
}
}  // namespace detail

template <tensor_like S, tensor_like D>
ZELLIGE_DEVICE inline void copy(Copy_Traits<SM90_BULK_COPY_AUTO, smem<uint64_t>> const& with, S const& src, D&& dst) {
  static_assert(is_gmem_v<S> && is_smem_v<remove_cvref_t<D>>,
                "SM90_BULK_COPY_AUTO: with a barrier it copies from global to shared memory");
  detail::each_common_run(src, dst, with.barrier);
}
template <tensor_like S, tensor_like D>
ZELLIGE_DEVICE inline void copy(Copy_Traits<SM90_BULK_COPY_AUTO> const&, S const& src, D&& dst) {
  static_assert(is_smem_v<S> && is_gmem_v<remove_cvref_t<D>>,
                "SM90_BULK_COPY_AUTO: without a barrier it copies from shared to global memory; .with(barrier) "
                "is the other way");
  detail::each_common_run(src, dst);
}

}  // namespace zellige
