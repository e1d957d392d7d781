// Makes the wgmma descriptor of a tile in shared memory from the tile's tensor: start address, strides and
// swizzle mode.
//
//   auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});
//   auto sA = make_tensor(make_smem_ptr(p), layout);
//   auto d = GMMA::make_gmma_desc<GMMA::Major::K>(local_tile(sA, Shape<_64, _16>{}, make_coord(0, 0)));
//
// A tile that no descriptor can describe does not compile; the error shows its stride and the required one.
#pragma once

#include <zellige/atom/algebra/gmma.hpp>
#include <zellige/atom/fragment_registers.hpp>
#include <zellige/atom/mma_atom.hpp>
#include <zellige/layout/gmma_atoms.hpp>

namespace zellige {
namespace detail {

/// The B of the Swizzle<B, 4, 3> of pointer type It; 0 if it has none.
template <class It>
struct swizzle_bits_of {
  static constexpr int value = 0;
};
template <int B, class It>
struct swizzle_bits_of<swizzle_ptr<Swizzle<B, 4, 3>, It>> {
  static constexpr int value = B;
};

/// The descriptor fields of the operand tile with layout L, (M or N, K), computed at compile time, or the rule
/// that the tile violates. `bits` is the width of an element, swizzle_bits the B of its Swizzle<B, 4, 3>.
template <class L, int swizzle_bits, bool k_major, int bits>
struct gmma_strides_of {
  struct Made {
    GmmaStrides strides;
    Refusal refusal;
  };
  ZELLIGE_ALGEBRA static constexpr Made make() {
    Encoder e;
    Tape t;
    Value const block = encode_type<L>::make(e);
    GmmaStrides const s = algebra::gmma_strides(t, block, swizzle_bits, k_major, bits);
    return {s, t.refusal()};
  }
  static constexpr Made value = make();

  ZELLIGE_ALGEBRA static consteval Rule rule() { return value.refusal.rule; }
  ZELLIGE_ALGEBRA static consteval long long x() { return value.refusal.x; }
  ZELLIGE_ALGEBRA static consteval long long y() { return value.refusal.y; }
  /// Returns the tile's 64-bit descriptor with an address field of 0, into which the caller inserts the address.
  ZELLIGE_ALGEBRA static consteval unsigned long long word() {
    return static_cast<unsigned long long>(value.strides.leading & 0x3fff) << 16 |
           static_cast<unsigned long long>(value.strides.stride & 0x3fff) << 32 |
           static_cast<unsigned long long>(value.strides.layout_type) << 62;
  }
};

/// Returns the shared-memory address in bytes at which pointer p points, without applying the swizzle of p.
template <class P>
ZELLIGE_HOST_DEVICE inline unsigned shared_address(P const& p) {
  auto const at = instruction_address(raw_tile(p));
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
#elif defined(ZELLIGE_EMULATE)
  return emulate::smem_address(at);
#else
  return static_cast<unsigned>(reinterpret_cast<size_t>(at) & 0x3ffff);
#endif
}

}  // namespace detail

namespace SM90::GMMA {

/// Returns the descriptor of the operand tile x, (M or N, K), in shared memory. The tile's extent along K is that of
/// one instruction, 32 bytes. Fails to compile if the layout is not static, or if wgmma cannot read it.
template <Major major, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr GmmaDescriptor make_gmma_desc(X const& x) {
  static_assert(X::rank == 2, "make_gmma_desc: a tensor of two modes, M or N and K");
  static_assert(is_static_v<typename X::layout_type>, "make_gmma_desc: the layout must be static");
  using Strides = zellige::detail::gmma_strides_of<typename X::layout_type,
                                                   zellige::detail::swizzle_bits_of<typename X::iterator>::value,
                                                   major == Major::K, sizeof_bits<typename X::value_type>::value>;
  GmmaDescriptor d;
  if constexpr (Strides::rule() != Rule::none)
    zellige::detail::refuse<TiledOp::gmma_descriptor, Strides::rule(), Strides::x(), Strides::y()>();
  else
    d.desc_ = Strides::word() | (zellige::detail::shared_address(x.data()) >> 4 & 0x3fff);
#if defined(ZELLIGE_EMULATE)
  d.desc_ |= emulate::tensor_bits(instruction_address(zellige::raw_tile(x.data())));
#endif
  return d;
}

}  // namespace SM90::GMMA

/// Returns the operand fragment for x, a partition ((M, K), MMA_M, MMA_K, ...) of shared memory: a tensor of
/// descriptors with the modes (1, MMA_M, MMA_K, ...), one descriptor per instruction.
template <class Fragment, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_descriptor_tensor(X const& x) {
  auto const first = SM90::GMMA::make_gmma_desc<detail::major_of<Fragment>>(tensor<0>(x));
  auto const chunks = recast_layout<typename X::value_type, uint128_t>(x.layout());
  return make_tensor(SM90::GMMA::DescriptorIterator{first}, replace<0>(chunks, Layout<_1, _0>{}));
}

}  // namespace zellige
