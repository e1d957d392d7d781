// tcgen05.cp: one thread copies from shared to tensor memory, under CuTe's names: SM100_UTCCP_4x32dp128bit_1cta copies 32 rows
// of 128 bits to the lanes of each of four warps, which scales of blocks need. tcgen05.shift moves lanes down.
//
//   auto copy = make_utccp_copy(SM100_UTCCP_4x32dp128bit_1cta{}, scales);      // scales: in tensor memory
//   auto mine = copy.get_slice(0);
//   auto from = get_utccp_smem_desc_tensor<SM100_UTCCP_4x32dp128bit_1cta>(mine.partition_S(shared));
//   if (elect_one()) copy(copy, from, mine.partition_D(scales));               // before tcgen05.mma of this thread
//
// Compile for sm_100a, sm_103a or another of sm_10x.
#pragma once

#include <zellige/atom/composed_text.hpp>
#include <zellige/atom/tmem_fragment.hpp>

namespace zellige {

/// What tcgen05.cp makes of the elements that it copies: they stay, or those of 6 or 4 bits become bytes.
enum class TmemExpansion { none, six_bits, four_bits };

namespace detail {

/// A shape of tcgen05.cp. Val maps the bits that one instruction writes to their places in tensor memory, in the order
/// [rows of a core matrix, columns, repetitions]; From maps them to the bits that it reads.
struct Utccp128dp256bit {
  static constexpr char text[] = ".128x256b";
  using Val = Layout<Shape<_128, _256>, Stride<TMEM::DP_b, _1>>;
  using From = Layout<Int<32768>, _1>;
  using To = From;
};
struct Utccp128dp128bit {
  static constexpr char text[] = ".128x128b";
  using Val = Layout<Shape<_128, _128>, Stride<TMEM::DP_b, _1>>;
  using From = Layout<Int<16384>, _1>;
  using To = From;
};
/// Writes the last 4 lanes of each warp's 32.
struct Utccp4dp256bit {
  static constexpr char text[] = ".4x256b";
  using Val = Utccp128dp256bit::Val;
  using From = Layout<Shape<_4, _256>, Stride<_32, _128>>;
  using To = From;
};
struct Utccp4x32dp128bit {
  static constexpr char text[] = ".32x128b.warpx4";
  using Val = Layout<Shape<_32, _128, _4>, Stride<TMEM::DP_b, _1, Int<TMEM::DP_b::value * 32>>>;
  using From = Layout<Shape<_32, _128, _4>, Stride<_1, _32, _0>>;
  using To = Layout<Int<16384>, _1>;
};
struct Utccp2x64dp128bitlw0213 {
  static constexpr char text[] = ".64x128b.warpx2::02_13";
  using Val = Layout<Shape<_64, _128, _2>, Stride<TMEM::DP_b, _1, Int<TMEM::DP_b::value * 64>>>;
  using From = Layout<Shape<_64, _128, _2>, Stride<_1, _64, _0>>;
  using To = Layout<Int<16384>, _1>;
};
struct Utccp2x64dp128bitlw0123 {
  static constexpr char text[] = ".64x128b.warpx2::01_23";
  using Val = Layout<Shape<_32, _128, _2, _2>,
                     Stride<TMEM::DP_b, _1, Int<TMEM::DP_b::value * 64>, Int<TMEM::DP_b::value * 32>>>;
  using From = Layout<Shape<_32, _128, _2, _2>, Stride<_1, _32, Int<4096>, _0>>;
  using To = Layout<Int<16384>, _1>;
};

/// The PTX of a copy, up to its operands.
template <class S, int ctas, TmemExpansion expansion = TmemExpansion::none>
struct UtccpMnemonic {
  ZELLIGE_ALGEBRA static constexpr ComposedText make() {
    ComposedText t;
    t += "tcgen05.cp.cta_group::";
    t += ctas;
    t += S::text;
    if (expansion == TmemExpansion::six_bits) t += ".b8x16.b6x16_p32";
    if (expansion == TmemExpansion::four_bits) t += ".b8x16.b4x16_p64";
    return t;
  }
  static constexpr ComposedText composed = make();
};
#if defined(__CUDACC__)
template <class S, int ctas, TmemExpansion expansion>
ZELLIGE_CALL void tmem_from_shared(uint64_t descriptor, uint32_t address) {
  using Text = LettersOf<UtccpMnemonic<S, ctas, expansion>>;
  asm volatile("%2 [%0], %1;" ::"r"(address), "l"(descriptor), "C"(Text::text) : "memory");
}
#endif

/// A copy from shared to tensor memory, of `op_ctas` CTAs.
template <class S, int op_ctas>
struct Utccp {
  static constexpr int ctas = op_ctas;
  using CopyShape = S;
  using SRegisters = uint64_t[1];
  using DRegisters = uint32_t[1];
  /// Copies what the descriptor describes to the lanes and columns from `address` on. One thread calls it. The overload with
  /// an expansion makes bytes of narrower elements. In host code it does nothing.
  template <TmemExpansion expansion = TmemExpansion::none>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] uint64_t const& descriptor,
                                       [[maybe_unused]] uint32_t const& address) {
#if defined(__CUDA_ARCH__)
    tmem_from_shared<S, op_ctas, expansion>(descriptor, address);
#elif defined(ZELLIGE_EMULATE)
    static_assert(expansion == TmemExpansion::none, "the emulator has no tcgen05.cp that expands elements");
    emulate::tcgen05_copy(descriptor, address, S::text, op_ctas);
#endif
  }
};
/// The layout (CTA, bit) -> bit of an instruction that each CTA issues.
template <int ctas, class L>
struct bits_of_ctas;
template <int ctas, class S, class D>
struct bits_of_ctas<ctas, Layout<S, D>> {
  using type = Layout<Shape<Int<ctas>, S>, Stride<_0, D>>;
};
template <class T>
concept utccp_op = requires {
  typename T::CopyShape::Val;
};
}  // namespace detail

#define ZELLIGE_UTCCP(name)                                                    \
  struct SM100_UTCCP_##name##_1cta : detail::Utccp<detail::Utccp##name, 1> {}; \
  struct SM100_UTCCP_##name##_2cta : detail::Utccp<detail::Utccp##name, 2> {};
ZELLIGE_UTCCP(128dp256bit)
ZELLIGE_UTCCP(128dp128bit)
ZELLIGE_UTCCP(4dp256bit)
ZELLIGE_UTCCP(4x32dp128bit)
ZELLIGE_UTCCP(2x64dp128bitlw0213)
ZELLIGE_UTCCP(2x64dp128bitlw0123)
#undef ZELLIGE_UTCCP
/// CuTe's namespace of these names.
namespace SM100::TMEM::UTCCP {
using zellige::SM100_UTCCP_128dp128bit_1cta, zellige::SM100_UTCCP_128dp128bit_2cta;
using zellige::SM100_UTCCP_128dp256bit_1cta, zellige::SM100_UTCCP_128dp256bit_2cta;
using zellige::SM100_UTCCP_2x64dp128bitlw0123_1cta, zellige::SM100_UTCCP_2x64dp128bitlw0123_2cta;
using zellige::SM100_UTCCP_2x64dp128bitlw0213_1cta, zellige::SM100_UTCCP_2x64dp128bitlw0213_2cta;
using zellige::SM100_UTCCP_4dp256bit_1cta, zellige::SM100_UTCCP_4dp256bit_2cta;
using zellige::SM100_UTCCP_4x32dp128bit_1cta, zellige::SM100_UTCCP_4x32dp128bit_2cta;
}  // namespace SM100::TMEM::UTCCP

/// Traits of a copy from shared to tensor memory. The threads of its layouts are the CTAs.
template <detail::utccp_op Op>
struct Copy_Traits<Op> {
  using Operation = Op;
  using ThrID = Layout<Int<Op::ctas>>;
  using ValID = typename Op::CopyShape::Val;
  using SrcLayout = typename detail::bits_of_ctas<Op::ctas, typename Op::CopyShape::From>::type;
  using DstLayout = typename detail::bits_of_ctas<Op::ctas, typename Op::CopyShape::To>::type;
  using RefLayout = DstLayout;
};

/// Returns the TiledCopy to `tmem`, a tensor in tensor memory, by copies Op.
template <detail::utccp_op Op, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_utccp_copy(Op const&, X const& tmem) {
  using T = typename X::value_type;
  using Traits = Copy_Traits<Op>;
  static_assert(is_tmem_v<X>, "make_utccp_copy(op, tensor): the tensor is in tensor memory, make_tmem_ptr");
  auto const ctas = make_layout(size(typename Traits::ThrID{}), Int<0>{});
  auto const values = coalesce(upcast<sizeof_bits_v<T>>(typename Traits::ValID{}));
  return make_cotiled_copy(Copy_Atom<Traits, T>{}, make_layout(ctas, values), tmem.layout());
}
/// Returns the descriptors of `x`, shared memory that a copy Op divides: ((values, 1), ...), one for each instruction.
template <class Op, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto get_utccp_smem_desc_tensor(X const& x) {
  using T = typename X::value_type;
  using Values = remove_cvref_t<decltype(layout<0>(x.layout()))>;
  static_assert(is_smem_v<X> && is_static_v<Values>,
                "get_utccp_smem_desc_tensor<Op>(x): x is a static part of shared memory, as partition_S gives it");
  static_assert(decltype(rank(Values{}))::value == 2 && decltype(size<1>(Values{}))::value == 1,
                "get_utccp_smem_desc_tensor<Op>(x): mode 0 of x has the values of one instruction, (values, 1)");
  auto const core = take<0, 2>(upcast<sizeof_bits_v<T>>(typename Copy_Traits<Op>::ValID{}).shape());
  auto const matrix = flatten(layout<0>(Values{})).with_shape(core);
  auto const described = [&] {
    // A descriptor is of columns of 256 bits. Where there are 128, the second half would follow the first.
    constexpr int columns = decltype(size<1>(matrix))::value;
    if constexpr (columns * int(sizeof_bits_v<T>) == 128)
      return make_layout(layout<0>(matrix), make_layout(layout<1>(matrix), Layout<_2, Int<columns>>{}));
    else
      return matrix;
  }();
  auto const first = UMMA::make_umma_desc<UMMA::Major::K>(make_tensor(x.data(), described));
  return make_tensor(UMMA::DescriptorIterator{first}, recast_layout<T, uint128_t>(x.layout()));
}

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
template <detail::utccp_op Op, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  static_assert(is_rmem_v<TS> && is_tmem_v<remove_cvref_t<TD>>,
                "tcgen05.cp copies from descriptors of shared memory, get_utccp_smem_desc_tensor, to tensor memory");
  Op::copy(src(0), raw_pointer_cast(dst.data()));
}
#endif
#if defined(__CUDACC__)

/// Moves 32 bytes of each lane from lane i + 1 to lane i, of all lanes from `address` on, for CTAs that issue alone or in pairs.
/// One thread calls it.
template <int ctas = 1>
ZELLIGE_CALL void tcgen05_shift_down(uint32_t address) {
  static_assert(ctas == 1 || ctas == 2, "tcgen05_shift_down<ctas>: one CTA or a pair");
  if constexpr (ctas == 1)
    asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(address) : "memory");
  else
    asm volatile("tcgen05.shift.cta_group::2.down [%0];" ::"r"(address) : "memory");
}
#endif

}  // namespace zellige
