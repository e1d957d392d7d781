// tcgen05.ld and tcgen05.st: a warp moves data between tensor memory and its registers. They have CuTe's names, traits,
// and copies: SM100_TMEM_LOAD_16dp256b4x reads, of 16 lanes, 4 times 256 bits. The ending _16b is for elements of 16
// bits of which each has a column of 32.
//
//   auto load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b32x{}, accumulators);
//   auto mine = load.get_slice(threadIdx.x);
//   copy(load, mine.partition_S(accumulators), registers);
//   tmem_load_wait();                                        // the registers are there
//
// Warp w of each four reads and writes the lanes from 32 w on only. Compile for sm_100a, sm_103a or another of sm_10x.
#pragma once

#include <zellige/atom/composed_text.hpp>
#include <zellige/atom/copy_call.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/tcgen05.hpp>
#endif
#if defined(__CUDACC__)
#include <zellige/atom/tmem_ptx.hpp>
#endif

namespace zellige {

namespace TMEM {
/// Bits from a lane to the next one, and bits of all tensor memory.
using DP_b = Int<(1 << 21)>;
using MAX_CAPACITY_BITS = Int<128 * 512 * 32>;
/// The distance of two lanes as an offset of a tmem_ptr<T>.
template <class T = uint32_t>
using DP = Int<(tmem_ptr<T>::shift >= 0 ? (1 << 16) << (tmem_ptr<T>::shift >= 0 ? tmem_ptr<T>::shift : 0)
                                        : (1 << 16) >> (tmem_ptr<T>::shift < 0 ? -tmem_ptr<T>::shift : 0))>;
}  // namespace TMEM

namespace detail {

/// The PTX of the move that `row` describes, up to its operands.
template <class Op>
struct TmemMnemonic {
  ZELLIGE_ALGEBRA static constexpr ComposedText make() {
    constexpr CopyRow row = find_copy(Op::name);
    constexpr bool load = row.kind == CopyRow::Kind::tmem_load;
    ComposedText t;
    t += load ? "tcgen05.ld.sync.aligned." : "tcgen05.st.sync.aligned.";
    t += row.lanes;
    t += "x";
    t += row.bits;
    t += row.lanes == 16 && row.bits == 32 ? "bx2.x" : "b.x";
    t += row.matrices;
    if (row.of_half) t += load ? ".pack::16b" : ".unpack::16b";
    t += ".b32";
    return t;
  }
  static constexpr ComposedText composed = make();
};
/// What follows the address: the distance in columns of the two places of a lane, if a move has two.
template <class Op>
struct TmemAfterAddress {
  ZELLIGE_ALGEBRA static constexpr ComposedText make() {
    constexpr CopyRow row = find_copy(Op::name);
    ComposedText t;
    if (row.lanes == 16 && row.bits == 32) {
      t += ", ";
      t += row.matrices * (row.of_half ? 2 : 1);
    }
    return t;
  }
  static constexpr ComposedText composed = make();
};

/// Registers and calls of a move of N registers of each thread.
template <class Op, int N, bool load>
struct TmemMove {
  using Registers = uint32_t[N];
  using SRegisters = conditional_t<load, uint32_t[1], Registers>;
  using DRegisters = conditional_t<load, Registers, uint32_t[1]>;

#if defined(__CUDACC__)
  /// Moves the registers r of this thread; `address` is that of the warp's first lane.
  ZELLIGE_CALL static void call(Registers& r, uint32_t address) {
    if constexpr (load)
      tmem_load<LettersOf<TmemMnemonic<Op>>, LettersOf<TmemAfterAddress<Op>>>(r, address);
    else
      tmem_store<LettersOf<TmemMnemonic<Op>>, LettersOf<TmemAfterAddress<Op>>>(address, r);
  }
#elif defined(ZELLIGE_EMULATE)
  ZELLIGE_CALL static void call(Registers& r, uint32_t address) {
    constexpr CopyRow row = find_copy(Op::name);
    emulate::tmem_move(r, address, {tmem_places<Copy_Traits<Op>, N, load>(), N, load, row.of_half});
  }
#endif
  /// A load takes the address and then each register, a store each register and then the address. In host code it does
  /// nothing.
  template <class... X>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] X&&... operands) {
    static_assert(sizeof...(X) == N + 1, "copy of this instruction takes its address and each of its registers");
#if defined(__CUDA_ARCH__) || defined(ZELLIGE_EMULATE)
    uint32_t all[N + 1];
    int i = 0;
    if constexpr (load) {
      Registers r;
      take_first([&](uint32_t address) { call(r, address); }, operands...);
      ((i > 0 ? void(operands = r[i - 1]) : void(), ++i), ...);
    } else {
      ((all[i++] = operands), ...);
      call(reinterpret_cast<Registers&>(all), all[N]);
    }
#endif
  }

 private:
  template <class F, class X, class... More>
  ZELLIGE_HOST_DEVICE static void take_first(F const& f, X const& first, More&&...) {
    f(first);
  }
};

}  // namespace detail

#define ZELLIGE_TMEM_MOVE(op, n, load)        \
  struct op : detail::TmemMove<op, n, load> { \
    static constexpr char name[] = #op;       \
  };
#define ZELLIGE_TMEM(shape, n)                              \
  ZELLIGE_TMEM_MOVE(SM100_TMEM_LOAD_##shape, n, true)       \
  ZELLIGE_TMEM_MOVE(SM100_TMEM_LOAD_##shape##_16b, n, true) \
  ZELLIGE_TMEM_MOVE(SM100_TMEM_STORE_##shape, n, false)     \
  ZELLIGE_TMEM_MOVE(SM100_TMEM_STORE_##shape##_16b, n, false)
ZELLIGE_TMEM(16dp256b1x, 4)
ZELLIGE_TMEM(16dp256b2x, 8)
ZELLIGE_TMEM(16dp256b4x, 16)
ZELLIGE_TMEM(16dp256b8x, 32)
ZELLIGE_TMEM(16dp256b16x, 64)
ZELLIGE_TMEM(16dp256b32x, 128)
ZELLIGE_TMEM(16dp128b1x, 2)
ZELLIGE_TMEM(16dp128b2x, 4)
ZELLIGE_TMEM(16dp128b4x, 8)
ZELLIGE_TMEM(16dp128b8x, 16)
ZELLIGE_TMEM(16dp128b16x, 32)
ZELLIGE_TMEM(16dp128b32x, 64)
ZELLIGE_TMEM(16dp128b64x, 128)
ZELLIGE_TMEM(16dp64b1x, 1)
ZELLIGE_TMEM(16dp64b2x, 2)
ZELLIGE_TMEM(16dp64b4x, 4)
ZELLIGE_TMEM(16dp64b8x, 8)
ZELLIGE_TMEM(16dp64b16x, 16)
ZELLIGE_TMEM(16dp64b32x, 32)
ZELLIGE_TMEM(16dp64b64x, 64)
ZELLIGE_TMEM(16dp64b128x, 128)
ZELLIGE_TMEM(16dp32b1x, 1)
ZELLIGE_TMEM(16dp32b2x, 2)
ZELLIGE_TMEM(16dp32b4x, 4)
ZELLIGE_TMEM(16dp32b8x, 8)
ZELLIGE_TMEM(16dp32b16x, 16)
ZELLIGE_TMEM(16dp32b32x, 32)
ZELLIGE_TMEM(16dp32b64x, 64)
ZELLIGE_TMEM(16dp32b128x, 128)
ZELLIGE_TMEM(32dp32b1x, 1)
ZELLIGE_TMEM(32dp32b2x, 2)
ZELLIGE_TMEM(32dp32b4x, 4)
ZELLIGE_TMEM(32dp32b8x, 8)
ZELLIGE_TMEM(32dp32b16x, 16)
ZELLIGE_TMEM(32dp32b32x, 32)
ZELLIGE_TMEM(32dp32b64x, 64)
ZELLIGE_TMEM(32dp32b128x, 128)
#undef ZELLIGE_TMEM
#undef ZELLIGE_TMEM_MOVE

namespace detail {
template <class Op>
concept tmem_move = requires {
  typename Op::Registers;
}
&&(copy_row_of<Op>::value.kind == CopyRow::Kind::tmem_load || copy_row_of<Op>::value.kind == CopyRow::Kind::tmem_store);
}  // namespace detail

/// Traits of a move between tensor memory and registers. ValID maps the bits that a warp moves to their places in tensor
/// memory, from the first lane and column on.
template <class Op>
requires detail::tmem_move<Op>
struct Copy_Traits<Op> {
  static constexpr CopyRow row = find_copy(Op::name);
  static constexpr int lane_bits = row.bits * row.matrices * (row.lanes == 16 && row.bits == 32 ? 2 : 1);
  using ThrID = Layout<_32>;
  using ValID =
      conditional_t<row.of_half,
                    Layout<Shape<Shape<_16, Int<lane_bits / 16>>, Int<row.lanes>>, Stride<Stride<_1, _32>, TMEM::DP_b>>,
                    Layout<Shape<Int<lane_bits>, Int<row.lanes>>, Stride<_1, TMEM::DP_b>>>;
  using SrcLayout = detail::copy_layout_t<Op, CopyPart::source>;
  using DstLayout = detail::copy_layout_t<Op, CopyPart::destination>;
  using RefLayout = detail::copy_layout_t<Op, CopyPart::reference>;
  using Operation = Op;
};

/// Returns the TiledCopy of four warps, each of its 32 lanes, for tensor `tmem` in tensor memory, by the move `atom`.
template <class Op, class T, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_tmem_copy(Copy_Atom<Op, T> const& atom, X const& tmem) {
  using V = typename X::value_type;
  static_assert(is_tmem_v<X>, "make_tmem_copy(atom, tensor): the tensor is in tensor memory, make_tmem_ptr");
  static_assert(sizeof_bits_v<T> == sizeof_bits_v<V>,
                "make_tmem_copy(atom, tensor): the atom's elements have another size than the tensor's");
  auto const warps = Layout<Shape<_32, _4>, Stride<_0, Int<32 * TMEM::DP<V>::value>>>{};
  auto const values = coalesce(upcast<sizeof_bits_v<V>>(typename Copy_Atom<Op, T>::Traits::ValID{}));
  return make_cotiled_copy(atom, make_layout(warps, values), tmem.layout());
}
template <detail::tmem_move Op, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_tmem_copy(Op const&, X const& tmem) {
  return make_tmem_copy(Copy_Atom<Op, typename X::value_type>{}, tmem);
}

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
template <detail::tmem_move Op, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  using D = remove_cvref_t<TD>;
  constexpr bool load = Copy_Traits<Op>::row.kind == CopyRow::Kind::tmem_load;
  typename Op::Registers r;
  if constexpr (load) {
    static_assert(is_tmem_v<TS> && is_rmem_v<D>, "tcgen05.ld copies from tensor memory to registers");
    Op::call(r, raw_pointer_cast(src.data()));
    store_registers(dst, r);
  } else {
    static_assert(is_rmem_v<TS> && is_tmem_v<D>, "tcgen05.st copies from registers to tensor memory");
    load_registers(r, src);
    Op::call(r, raw_pointer_cast(dst.data()));
  }
}
#endif

}  // namespace zellige
