// TMA copies of tiles as layouts: make_tma_copy determines the box of one instruction, and kernels partition
// the tensor of TMA coordinates like any other tensor.
//
//   auto tma = make_tma_copy(SM90_TMA_LOAD{}, gA, smem_layout, Shape<_128, _64>{}, Int<1>{});  // on the host
//   Tensor mA = tma.get_tma_tensor(shape(gA));                                            // in a kernel
//   Tensor tile = local_tile(mA, Shape<_128, _64>{}, make_coord(block, _));
//   auto mine = tma.get_slice(cta_rank);
//   copy(tma.with(barrier), mine.partition_S(tile)(_, _, _, k), mine.partition_D(sA));
//
// Copies that the hardware does not support are refused by make_tma_copy: see tma_numbers in
// algebra/tma_descriptor.hpp.
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tma_descriptor.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/atom/algebra/tma_descriptor.hpp>
#include <zellige/atom/make_tma_descriptor.hpp>
#include <zellige/layout/print.hpp>
#endif

namespace zellige {

/// The parameters of a TMA copy that a kernel needs in addition to the descriptor.
template <class GmemStrides_, class TmaGmemBasis_, class TmaSwizzle_, int in_one_ = 1>
struct AuxTmaParams {
  using GmemStrides = GmemStrides_;    // mode of the global tensor -> TMA coordinate
  using TmaGmemBasis = TmaGmemBasis_;  // box extent -> mode of the global tensor
  using TmaSwizzle = TmaSwizzle_;
  static constexpr int in_one = in_one_;  // elements of the global tensor per box element
  static_assert(is_static_v<TmaGmemBasis>, "AuxTmaParams: the box must be static");
  [[no_unique_address]] GmemStrides g_stride_;
};

namespace detail {
/// Coordinates of boxes whose elements hold n of the tensor's: strides count the tensor's elements along the
/// first mode, the instruction's coordinates the box's.
template <int n, class T>
struct LargerElements : private tuple<T> {
  template <class C, int... I>
  ZELLIGE_HOST_DEVICE static constexpr auto divided(C const& c, seq<0, I...>) {
    return make_arithmetic_tuple(get<0>(c) / Int<n>{}, get<I>(c)...);
  }
  using reference = decltype(divided(lvalue<T const>(), make_seq<rank_v<T>>{}));
  using value_type = reference;
  using element_type = reference;
  static constexpr bool coordinate_tag = true;

  ZELLIGE_HOST_DEVICE constexpr LargerElements(T const& at = {}) : tuple<T>(at) {}
  ZELLIGE_HOST_DEVICE constexpr reference operator*() const {
    return divided(get<0>(static_cast<tuple<T> const&>(*this)), make_seq<rank_v<T>>{});
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(I const& i) const {
    auto const at = get<0>(static_cast<tuple<T> const&>(*this)) + i;
    return LargerElements<n, remove_cvref_t<decltype(at)>>(at);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](I const& i) const {
    return *(*this + i);
  }
};

/// The barrier argument of `with`: any type but a pointer to a descriptor.
template <class T>
concept no_tma_descriptor =
    !is_same_v<remove_cvref_t<T>, TmaDescriptor*> && !is_same_v<remove_cvref_t<T>, TmaDescriptor const*>;

template <class Op, class Bits, class Aux>
struct tma_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  using AuxParams = Aux;

  [[no_unique_address]] Aux aux_params_;  // first, as tensor.hpp says of a layout
  TmaDescriptor tma_desc_;

  ZELLIGE_HOST_DEVICE constexpr TmaDescriptor const* get_tma_descriptor() const { return &tma_desc_; }
  /// The tensor of coordinates, of the global tensor's shape.
  template <class S>
  ZELLIGE_HOST_DEVICE constexpr auto get_tma_tensor(S const& shape) const {
    auto const coordinates = make_layout(shape, aux_params_.g_stride_);
    if constexpr (Aux::in_one == 1) {
      return make_coord_tensor(coordinates);
    } else {
      auto const first = as_arithmetic_tuple(coprofile(coordinates));
      return make_tensor(LargerElements<Aux::in_one, remove_cvref_t<decltype(first)>>(first), coordinates);
    }
  }
  /// For a load: the copy that completes on a barrier, optionally into the CTAs of a mask, with a cache hint,
  /// or with another descriptor. See tma_call.hpp.
  template <no_tma_descriptor Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier, uint16_t mask = 0) const;
  template <no_tma_descriptor Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier, uint16_t mask, CacheHint hint) const;
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, Barrier&& barrier, uint16_t mask = 0) const;
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, Barrier&& barrier, uint16_t mask,
                                CacheHint hint) const;
  /// For a store: with another descriptor, or with a cache hint.
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor) const;
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, CacheHint hint) const;
};
}  // namespace detail

template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_LOAD, Bits, Aux> : detail::tma_traits<SM90_TMA_LOAD, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_LOAD_MULTICAST, Bits, Aux>
    : detail::tma_traits<SM90_TMA_LOAD_MULTICAST, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_STORE, Bits, Aux> : detail::tma_traits<SM90_TMA_STORE, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_REDUCE_ADD, Bits, Aux> : detail::tma_traits<SM90_TMA_REDUCE_ADD, Bits, Aux> {};

/// A bulk copy of a given number of bits.
template <class Bits>
struct Copy_Traits<SM90_BULK_COPY_G2S, Bits> {
  static_assert(Bits::value % 128 == 0, "SM90_BULK_COPY_G2S: a multiple of 16 bytes");
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_G2S;
  /// The copy that completes on a barrier: bulk_copy_call.hpp.
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier) const;
};
template <class Bits>
struct Copy_Traits<SM90_BULK_COPY_S2G, Bits> {
  static_assert(Bits::value % 128 == 0, "SM90_BULK_COPY_S2G: a multiple of 16 bytes");
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_S2G;
};

namespace detail {
/// The parameters of a TMA copy, as the arguments of the operations on types.
template <class GLayout, class SLayout, class Tiler, int bits, int box_bits>
struct TmaTile {
  GLayout global;
  SLayout shared;
  Tiler tiler;

  template <TiledOp op, class... More>
  ZELLIGE_HOST_DEVICE constexpr auto ask(More const&... more) const {
    return invoke<op>(global, shared, tiler, Int<bits>{}, Int<box_bits>{}, more...);
  }
};
template <class T, class Box, class X, class S, class Tiler>
ZELLIGE_HOST_DEVICE constexpr auto tma_tile(X const& global, S const& shared, Tiler const& tiler) {
  auto const unswizzled = get_nonswizzle_portion(shared);
  using L = remove_cvref_t<decltype(global.layout())>;
  return TmaTile<L, remove_cvref_t<decltype(unswizzled)>, Tiler, sizeof_bits<T>::value,
                 sizeof_bits<Box>::value>{global.layout(), unswizzled, tiler};
}
/// (box extent, ...):(mode of the global tensor, ...) of one instruction; `modes` is tile element -> mode of
/// the global tensor.
template <class Box, tensor_like X, class S, class Modes>
ZELLIGE_HOST_DEVICE constexpr auto construct_tma_gbasis(X const& global, S const& shared,
                                                        Modes const& modes) {
  return tma_tile<typename X::value_type, Box>(global, shared, modes).template ask<TiledOp::tma_basis>();
}
template <class T, class Internal>
struct box_type {
  using type = Internal;
};
template <class T>
struct box_type<T, void> {
  using type = T;
};
}  // namespace detail

#if !defined(__CUDACC_RTC__)

namespace detail {
template <class Tile, class Box>
TmaNumbers numbers_of(Tile const& tile, Box const& box, int bits, int box_bits, long long ctas) {
  Tape t;
  algebra::TmaRequest const r{describe(tile.global), describe(tile.shared), nothing(), bits, box_bits};
  TmaNumbers const n = algebra::tma_numbers(t, r, describe(box), ctas);
  if (t.failed()) throw LayoutError("make_tma_copy: " + to_text(t.refusal()), t.refusal());
  return n;
}
}  // namespace detail

namespace detail {
/// The type as which the hardware treats elements of a type.
template <class T>
constexpr TmaElement tma_element() {
  using E = TmaElement;
  constexpr Number kind = number_of<T>;
  constexpr int bytes = int(sizeof(T));
  return kind == Number::f16    ? E::f16
         : kind == Number::bf16 ? E::bf16
         : kind == Number::tf32 ? E::tf32
         : kind == Number::f32  ? E::f32
         : kind == Number::f64  ? E::f64
         : kind == Number::s32  ? E::s32
         : bytes == 1           ? E::u8
         : bytes == 2           ? E::u16
         : bytes == 4           ? E::u32
                                : E::u64;
}
template <class L>
inline constexpr bool counts_bytes = false;
template <class Sw, int B, class L>
inline constexpr bool counts_bytes<ComposedLayout<Sw, smem_ptr_flag_bits<B>, L>> = true;
/// The swizzle of a shared-memory layout if the hardware supports it: of chunks of 16 bytes, by bits three
/// further up. A layout that waits for its pointer swizzles bytes, other layouts swizzle elements.
template <class L, int bits>
ZELLIGE_ALGEBRA consteval SwizzleMode hardware_swizzle() {
  using Sw = get_swizzle_t<L>;
  int base = Sw::num_base;
  for (int b = counts_bytes<L> ? 8 : bits; b > 8; b /= 2) ++base;
  for (int b = counts_bytes<L> ? 8 : bits; b < 8; b *= 2) --base;
  return Sw::num_bits == 0 || (Sw::num_bits <= 3 && base == 4 && Sw::num_shft == 3)
             ? static_cast<SwizzleMode>(Sw::num_bits)
             : static_cast<SwizzleMode>(255);
}
/// The descriptor's fields: numbers in bytes, the number type, the swizzle.
template <class T, class L, int bits = 8>
TmaTensor tma_tensor(TmaNumbers const& n) {
  static_assert(
      hardware_swizzle<L, bits>() != static_cast<SwizzleMode>(255),
      "make_tma_copy: TMA swizzles chunks of 16 bytes by Swizzle<0 to 3, 4, 3> of bytes, and no other way");
  TmaTensor t;
  t.element = tma_element<T>();
  t.rank = n.rank;
  for (int i = 0; i < 5; ++i)
    t.extent[i] = n.extent[i], t.box[i] = n.box[i], t.stride[i] = n.stride[i] * int(sizeof(T));
  t.swizzle = hardware_swizzle<L, bits>();
  return t;
}
/// For a tensor in memory, as the launch needs it; without a device, one for the emulator, whose launch
/// provides the tensor's address.
template <class P>
TmaDescriptor descriptor_of(TmaTensor const& t, [[maybe_unused]] P const& p) {
#if defined(__CUDACC__)
  return make_tma_descriptor(t, raw_pointer_cast(p));
#else
  return make_tma_descriptor_emulated(t, static_cast<uint64_t>(tma_tensor_bytes(t)));
#endif
}
}  // namespace detail

/// One TMA instruction: the box of a shared-memory tile, for a number of CTAs that share it.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster = Int<1>>
auto make_tma_atom(Op const&, X const& global, SLayout const& shared, Tiler const& tiler,
                   Cluster const& cluster = {}) {
  using T = typename X::value_type;
  using Box = typename detail::box_type<T, Internal>::type;
  constexpr int bits = sizeof_bits<T>::value, box_bits = sizeof_bits<Box>::value;
  auto const tile = detail::tma_tile<T, Box>(global, shared, tiler);
  auto const box = tile.template ask<TiledOp::tma_basis>();
  auto const strides = tile.template ask<TiledOp::tma_stride>(box);
  using Aux = AuxTmaParams<remove_cvref_t<decltype(strides)>, remove_cvref_t<decltype(box)>,
                           remove_cvref_t<decltype(get_swizzle_portion(shared))>,
                           (box_bits > bits ? box_bits / bits : 1)>;
  constexpr int moved = decltype(size(box))::value * box_bits;
  using Traits = Copy_Traits<Op, Int<moved>, Aux>;
  Traits traits{};
  TmaNumbers const numbers =
      detail::numbers_of(tile, box, bits, box_bits, static_cast<long long>(size(cluster)));
  traits.aux_params_ = Aux{strides};
  traits.tma_desc_ = detail::descriptor_of(detail::tma_tensor<Box, SLayout, bits>(numbers), global.data());
  return Copy_Atom<Traits, T>(traits);
}

/// A whole tile by TMA, with its boxes as values and the CTAs of a multicast as threads.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster>
auto make_tma_copy(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler,
                   Cluster const& cluster) {
  using T = typename X::value_type;
  using Box = typename detail::box_type<T, Internal>::type;
  auto const atom = make_tma_atom<Internal>(op, global, shared, tiler, cluster);
  using Basis = typename remove_cvref_t<decltype(atom)>::AuxParams::TmaGmemBasis;
  auto const tile = detail::tma_tile<T, Box>(global, shared, tiler);
  auto const tiling = tile.template ask<TiledOp::tma_tiling>(Basis{}, make_layout(cluster));
  return make_tiled_copy_impl(atom, get<0>(tiling), get<1>(tiling));
}
template <class Internal = void, class Op, tensor_like X, class SLayout>
auto make_tma_copy(Op const& op, X const& global, SLayout const& shared) {
  return make_tma_copy<Internal>(op, global, shared, product_each(shape(shared)), Int<1>{});
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Cluster>
auto make_tma_copy(Op const& op, X const& global, SLayout const& shared, Cluster const& cluster) {
  return make_tma_copy<Internal>(op, global, shared, product_each(shape(shared)), cluster);
}
/// For an operand of a matmul, from the tile (M, N, K) and the cluster (M, N, K): A is shared along N, B
/// along M.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster>
auto make_tma_copy_A_sm90(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler,
                          Cluster const& cluster) {
  return make_tma_copy<Internal>(op, global, shared, remove<1>(tiler), size<1>(cluster));
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster>
auto make_tma_copy_B_sm90(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler,
                          Cluster const& cluster) {
  return make_tma_copy<Internal>(op, global, shared, remove<0>(tiler), size<0>(cluster));
}
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler>
auto make_tma_copy_C_sm90(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler) {
  return make_tma_copy<Internal>(op, global, shared, take<0, 2>(tiler), Int<1>{});
}

/// Extents and strides of the global tensor as in the descriptor, in elements of the box.
template <class Traits, tensor_like X>
void fill_tma_gmem_shape_stride(Traits const&, X const& global, long long (&extent)[5],
                                long long (&stride)[5]) {
  using Basis = typename Traits::AuxParams::TmaGmemBasis;
  constexpr int bits = sizeof_bits<typename X::value_type>::value;
  using L = remove_cvref_t<decltype(global.layout())>;
  detail::TmaTile<L, Layout<_1>, _1, bits, bits> const tile{global.layout(), {}, {}};
  TmaNumbers const n = detail::numbers_of(tile, Basis{}, bits, bits, 1);
  for (int i = 0; i < 5; ++i) extent[i] = n.extent[i], stride[i] = n.stride[i];
}

#endif

/// ((values of one instruction, instructions), Rest...) of both tensors, previously (tile, Rest...), for one
/// of the CTAs that share the tile: (of global memory, of shared memory).
template <class... Args, class Crd, class S, class D, tensor_like SX, tensor_like GX>
ZELLIGE_HOST_DEVICE constexpr auto tma_partition(Copy_Atom<Args...> const&, Crd const& cta,
                                                 Layout<S, D> const& ctas, SX const& shared,
                                                 GX const& global) {
  static_assert(!detail::clash<decltype(size<0>(shared)), decltype(size<0>(global))>,
                "tma_partition: the tiles of shared and global memory differ in size");
  auto const tile = get_nonswizzle_portion(shared.layout());
  using Count = Int<Copy_Atom<Args...>::NumValSrc>;
  auto const g = invoke<TiledOp::tma_partition>(global.layout(), tile, Count{}, cta, ctas);
  auto const s = invoke<TiledOp::tma_partition>(shared.layout(), tile, Count{}, cta, ctas);
  return make_tuple(make_tensor(global.data() + get<1>(g), get<0>(g)),
                    make_tensor(shared.data() + get<1>(s), get<0>(s)));
}
template <class... Args, tensor_like SX, tensor_like GX>
ZELLIGE_HOST_DEVICE constexpr auto tma_partition(Copy_Atom<Args...> const& atom, SX const& shared,
                                                 GX const& global) {
  return tma_partition(atom, Int<0>{}, Layout<_1, _0>{}, shared, global);
}

/// The mask of the CTAs that share a tile with the one at a coordinate: those that differ only in the given
/// modes, or in the modes with `_` in the coordinate.
template <class CtaLayout, class Crd>
ZELLIGE_HOST_DEVICE constexpr uint16_t create_tma_multicast_mask(CtaLayout const& ctas, Crd const& crd) {
  auto const part = slice_and_offset(crd, ctas);
  unsigned mask = 0;
  if constexpr (detail::rank_v<decltype(get<0>(part).shape())> == 0) {
    mask = 1;
  } else {
    for (int i = 0; i < int(size(get<0>(part))); ++i) mask |= 1u << int(get<0>(part)(i));
  }
  return static_cast<uint16_t>(mask << int(get<1>(part)));
}
template <int Mode, int... Modes, class CtaLayout, class Crd>
ZELLIGE_HOST_DEVICE constexpr uint16_t create_tma_multicast_mask(CtaLayout const& ctas, Crd const& crd) {
  auto const marked = replace<Mode>(crd, Underscore{});
  if constexpr (sizeof...(Modes) == 0)
    return create_tma_multicast_mask(ctas, marked);
  else
    return create_tma_multicast_mask<Modes...>(ctas, marked);
}

}  // namespace zellige
