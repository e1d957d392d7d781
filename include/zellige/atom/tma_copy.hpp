// Makes TMA copies from layouts, as CuTe does: make_tma_copy determines the box of one TMA instruction and encodes the
// descriptor on the host. A kernel partitions a tensor of TMA coordinates like any other tensor.
//
//   auto tma = make_tma_copy(SM90_TMA_LOAD{}, gA, smem_layout, Shape<_128, _64>{}, Int<1>{});  // on the host
//   Tensor mA = tma.get_tma_tensor(shape(gA));                                            // in a kernel
//   Tensor tile = local_tile(mA, Shape<_128, _64>{}, make_coord(block, _));
//   auto mine = tma.get_slice(cta_rank);
//   copy(tma.with(barrier), mine.partition_S(tile)(_, _, _, k), mine.partition_D(sA));
//
// make_tma_copy throws for copies that the hardware does not support; tma_numbers in algebra/tma_descriptor.hpp has the
// rules. tma_call.hpp executes the copies.
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

/// What a kernel needs of a TMA copy in addition to the descriptor: how the tensor's modes map to TMA coordinates.
template <class GmemStrides_, class TmaGmemBasis_, class TmaSwizzle_, int in_one_ = 1>
struct AuxTmaParams {
  using GmemStrides = GmemStrides_;    // strides in TMA coordinates, one per mode of the global tensor
  using TmaGmemBasis = TmaGmemBasis_;  // (extents of the box):(modes of the global tensor)
  using TmaSwizzle = TmaSwizzle_;
  static constexpr int in_one = in_one_;  // elements of the global tensor per box element
  static_assert(is_static_v<TmaGmemBasis>, "AuxTmaParams: the box must be static");
  [[no_unique_address]] GmemStrides g_stride_;
};

namespace detail {
/// A TMA coordinate for a box whose elements are n tensor elements wide. Arithmetic counts tensor elements;
/// dereferencing divides the first mode by n, which gives the instruction's coordinates.
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

/// The type of the mbarrier argument of `with`: any type except a pointer to a descriptor.
template <class T>
concept no_tma_descriptor =
    !is_same_v<remove_cvref_t<T>, TmaDescriptor*> && !is_same_v<remove_cvref_t<T>, TmaDescriptor const*>;

/// Copy_Traits members of a TMA copy: its descriptor and Aux, an AuxTmaParams. The box has Bits bits.
template <class Op, class Bits, class Aux>
struct tma_traits {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = Op;
  using AuxParams = Aux;

  [[no_unique_address]] Aux aux_params_;  // first member, because nvcc 13 computes a wrong size otherwise
  TmaDescriptor tma_desc_;

  ZELLIGE_HOST_DEVICE constexpr TmaDescriptor const* get_tma_descriptor() const { return &tma_desc_; }
  /// Returns a tensor of TMA coordinates with shape `shape`, which must be the shape of the global tensor.
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
  /// Returns this TMA load with its run-time arguments: the load completes on `barrier`, an mbarrier; a multicast
  /// load writes to the CTAs of `mask`. Overloads add an L2 cache hint or replace the descriptor. Defined in
  /// tma_call.hpp.
  template <no_tma_descriptor Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier, uint16_t mask = 0) const;
  template <no_tma_descriptor Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier, uint16_t mask, CacheHint hint) const;
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, Barrier&& barrier, uint16_t mask = 0) const;
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, Barrier&& barrier, uint16_t mask,
                                CacheHint hint) const;
  /// Returns this TMA store or reduction with `descriptor` in place of its own descriptor. An overload adds an L2
  /// cache hint, for stores only.
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor) const;
  ZELLIGE_HOST_DEVICE auto with(TmaDescriptor const* descriptor, CacheHint hint) const;
};
}  // namespace detail

template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_LOAD, Bits, Aux> : detail::tma_traits<SM90_TMA_LOAD, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_LOAD_MULTICAST, Bits, Aux> : detail::tma_traits<SM90_TMA_LOAD_MULTICAST, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_STORE, Bits, Aux> : detail::tma_traits<SM90_TMA_STORE, Bits, Aux> {};
template <class Bits, class Aux>
struct Copy_Traits<SM90_TMA_REDUCE_ADD, Bits, Aux> : detail::tma_traits<SM90_TMA_REDUCE_ADD, Bits, Aux> {};

/// Traits of a bulk load of Bits contiguous bits, a multiple of 16 bytes, from global to shared memory.
template <class Bits>
struct Copy_Traits<SM90_BULK_COPY_G2S, Bits> {
  static_assert(Bits::value % 128 == 0, "SM90_BULK_COPY_G2S: a multiple of 16 bytes");
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, Bits>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_G2S;
  /// Returns this bulk load with its run-time argument: the load completes on `barrier`, an mbarrier. Defined in
  /// bulk_copy_call.hpp.
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& barrier) const;
};
/// Traits of a bulk store of Bits contiguous bits, a multiple of 16 bytes, from shared to global memory.
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
/// The layouts of SM90_BULK_COPY_AUTO, which has one thread and one value, as in CuTe: a tiled copy of it gives each
/// thread whole values. How many bits an instruction moves is decided by the two tensors of a copy.
struct bulk_auto_layouts {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, _1>, Stride<_0, _0>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
  using Operation = SM90_BULK_COPY_AUTO;
};
}  // namespace detail
/// Traits of a bulk store of runs of elements that are contiguous in both tensors, as long as possible.
template <>
struct Copy_Traits<SM90_BULK_COPY_AUTO> : detail::bulk_auto_layouts {
  /// Returns the bulk load of such runs that completes on `completes_on`, an mbarrier. Defined in bulk_copy_call.hpp.
  template <class Barrier>
  ZELLIGE_HOST_DEVICE auto with(Barrier&& completes_on) const;
};

namespace detail {
/// The parameters of a TMA copy: layouts of global and shared memory, the tile, and the sizes in bits of a tensor
/// element and of a box element.
template <class GLayout, class SLayout, class Tiler, int bits, int box_bits>
struct TmaTile {
  GLayout global;
  SLayout shared;
  Tiler tiler;

  /// Returns the result of operation `op`, a function of algebra/tma.hpp. Its arguments are the parameters of this
  /// TMA copy, followed by `more`.
  template <TiledOp op, class... More>
  ZELLIGE_HOST_DEVICE constexpr auto ask(More const&... more) const {
    return invoke<op>(global, shared, tiler, Int<bits>{}, Int<box_bits>{}, more...);
  }
};
/// Returns the parameters of a TMA copy as a TmaTile: the layout of `global`, the layout `shared` without its swizzle,
/// the tile `tiler`, and the sizes of T and Box, the types of a tensor element and of a box element.
template <class T, class Box, class X, class S, class Tiler>
ZELLIGE_HOST_DEVICE constexpr auto tma_tile(X const& global, S const& shared, Tiler const& tiler) {
  auto const unswizzled = get_nonswizzle_portion(shared);
  using L = remove_cvref_t<decltype(global.layout())>;
  return TmaTile<L, remove_cvref_t<decltype(unswizzled)>, Tiler, sizeof_bits<T>::value, sizeof_bits<Box>::value>{
      global.layout(), unswizzled, tiler};
}
/// Returns the box of one TMA instruction as a layout (extents):(modes of the global tensor). `modes` maps an index in
/// the tile to a coordinate of the global tensor. Box is the type of a box element.
template <class Box, tensor_like X, class S, class Modes>
ZELLIGE_HOST_DEVICE constexpr auto construct_tma_gbasis(X const& global, S const& shared, Modes const& modes) {
  return tma_tile<typename X::value_type, Box>(global, shared, modes).template ask<TiledOp::tma_basis>();
}
/// The type of a box element: Internal, or the tensor's element type T if Internal is void.
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
/// Returns the rank, extents, strides and box of the descriptor for a copy of `tile` by boxes `box`. `bits` and
/// `box_bits` are the sizes of a tensor element and of a box element, `ctas` is the number of CTAs that share the box
/// in a multicast. Throws LayoutError if the hardware does not support the copy.
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
/// Returns the descriptor's number type for elements of type T. If TMA has no such type, returns the unsigned integer
/// type of the same size.
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
/// True if the swizzle of shared-memory layout L permutes byte addresses, as in a layout that is not yet bound to a
/// pointer; false if it permutes element indices.
template <class L>
inline constexpr bool counts_bytes = false;
template <class Sw, int B, class L>
inline constexpr bool counts_bytes<ComposedLayout<Sw, smem_ptr_flag_bits<B>, L>> = true;
/// Returns the SwizzleMode of shared-memory layout L, whose elements have `bits` bits. Returns SwizzleMode(255) if the
/// hardware does not support the swizzle; it supports Swizzle<0 to 3, 4, 3> of byte addresses.
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
/// Returns the description of a tensor with elements of type T for make_tma_descriptor. Converts the strides in `n`
/// from elements to bytes. L is the shared-memory layout; the hardware must support its swizzle.
template <class T, class L, int bits = 8>
TmaTensor tma_tensor(TmaNumbers const& n) {
  static_assert(hardware_swizzle<L, bits>() != static_cast<SwizzleMode>(255),
                "make_tma_copy: TMA swizzles chunks of 16 bytes by Swizzle<0 to 3, 4, 3> of bytes, and no other way");
  TmaTensor t;
  t.element = tma_element<T>();
  t.rank = n.rank;
  for (int i = 0; i < 5; ++i)
    t.extent[i] = n.extent[i], t.box[i] = n.box[i], t.stride[i] = n.stride[i] * int(sizeof(T));
  t.swizzle = hardware_swizzle<L, bits>();
  return t;
}
/// Returns the descriptor of the tensor at pointer p. If the compiler is not nvcc, the descriptor is one for the
/// emulator; the launch then provides the tensor's address.
template <class P>
TmaDescriptor descriptor_of(TmaTensor const& t, [[maybe_unused]] P const& p) {
#if defined(__CUDACC__)
  return make_tma_descriptor(t, raw_pointer_cast(p));
#else
  return make_tma_descriptor_emulated(t, static_cast<uint64_t>(tma_tensor_bytes(t)));
#endif
}
}  // namespace detail

/// Returns the Copy_Atom of one TMA instruction for a tile `tiler` of `global`. Its box is the part of the tile that
/// is contiguous in the layout `shared`, divided by `cluster`, the number of CTAs that share the box in a multicast.
/// Internal is the type of a box element, by default the tensor's element type. Throws if the hardware does not
/// support the copy.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster = Int<1>>
auto make_tma_atom(Op const&, X const& global, SLayout const& shared, Tiler const& tiler, Cluster const& cluster = {}) {
  using T = typename X::value_type;
  using Box = typename detail::box_type<T, Internal>::type;
  constexpr int bits = sizeof_bits<T>::value, box_bits = sizeof_bits<Box>::value;
  auto const tile = detail::tma_tile<T, Box>(global, shared, tiler);
  auto const box = tile.template ask<TiledOp::tma_basis>();
  auto const strides = tile.template ask<TiledOp::tma_stride>(box);
  using Aux =
      AuxTmaParams<remove_cvref_t<decltype(strides)>, remove_cvref_t<decltype(box)>,
                   remove_cvref_t<decltype(get_swizzle_portion(shared))>, (box_bits > bits ? box_bits / bits : 1)>;
  constexpr int moved = decltype(size(box))::value * box_bits;
  using Traits = Copy_Traits<Op, Int<moved>, Aux>;
  Traits traits{};
  TmaNumbers const numbers = detail::numbers_of(tile, box, bits, box_bits, static_cast<long long>(size(cluster)));
  traits.aux_params_ = Aux{strides};
  traits.tma_desc_ = detail::descriptor_of(detail::tma_tensor<Box, SLayout, bits>(numbers), global.data());
  return Copy_Atom<Traits, T>(traits);
}

/// Returns a TiledCopy that copies a tile `tiler` of `global` by TMA. Its "threads" are the `cluster` CTAs that share
/// the tile in a multicast, its "values" the elements of the tile. In overloads without `tiler`, the tile has the
/// shape of `shared`. Throws if the hardware does not support the copy.
template <class Internal = void, class Op, tensor_like X, class SLayout, class Tiler, class Cluster>
auto make_tma_copy(Op const& op, X const& global, SLayout const& shared, Tiler const& tiler, Cluster const& cluster) {
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
/// make_tma_copy_A_sm90, _B_sm90 and _C_sm90 return the TMA copy of operand A, B or C of a matmul. `tiler` is the
/// block's tile (M, N, K), `cluster` the cluster's shape (M, N, K). A multicast shares A among the CTAs along N, and B
/// among those along M.
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

/// Sets `extent` and `stride` to the extents and strides of the global tensor, in elements, in the order of the
/// descriptor's dimensions.
template <class Traits, tensor_like X>
void fill_tma_gmem_shape_stride(Traits const&, X const& global, long long (&extent)[5], long long (&stride)[5]) {
  using Basis = typename Traits::AuxParams::TmaGmemBasis;
  constexpr int bits = sizeof_bits<typename X::value_type>::value;
  using L = remove_cvref_t<decltype(global.layout())>;
  detail::TmaTile<L, Layout<_1>, _1, bits, bits> const tile{global.layout(), {}, {}};
  TmaNumbers const n = detail::numbers_of(tile, Basis{}, bits, bits, 1);
  for (int i = 0; i < 5; ++i) extent[i] = n.extent[i], stride[i] = n.stride[i];
}

#endif

/// Returns the tuple (global..., shared) of the tensors partitioned for TMA: one tensor in shared memory, and one or
/// more in global memory. The arguments have the modes (tile, Rest...), the results ((values of one instruction,
/// instructions), Rest...). In a multicast, the results have only the part that CTA `cta` of the layout `ctas` loads.
template <class... Args, class Crd, class S, class D, tensor_like SX, tensor_like... GX>
ZELLIGE_HOST_DEVICE constexpr auto tma_partition(Copy_Atom<Args...> const&, Crd const& cta, Layout<S, D> const& ctas,
                                                 SX const& shared, GX const&... global) {
  static_assert((!detail::clash<decltype(size<0>(shared)), decltype(size<0>(global))> && ...),
                "tma_partition: the tiles of shared and global memory differ in size");
  auto const tile = get_nonswizzle_portion(shared.layout());
  using Count = Int<Copy_Atom<Args...>::NumValSrc>;
  return transform(make_tuple(global..., shared), [&](auto const& tensor) {
    auto const part = invoke<TiledOp::tma_partition>(tensor.layout(), tile, Count{}, cta, ctas);
    return make_tensor(tensor.data() + get<1>(part), get<0>(part));
  });
}
template <class... Args, tensor_like SX, tensor_like GX>
ZELLIGE_HOST_DEVICE constexpr auto tma_partition(Copy_Atom<Args...> const& atom, SX const& shared, GX const& global) {
  return tma_partition(atom, Int<0>{}, Layout<_1, _0>{}, shared, global);
}

/// Returns the multicast mask of the CTAs that share a tile. Bit i is set if CTA i of the layout `ctas` has the same
/// coordinate as `crd` in all modes in which `crd` is not `_`. An overload takes the modes to be ignored as template
/// arguments.
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
