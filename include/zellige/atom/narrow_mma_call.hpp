// MMA_Traits of SM120's matrix instructions on narrow floats, and gemm(...) with them. Scales, and the metadata of a sparse A,
// are fragments beside those of A and B, zipped with them as in CuTe:
//
//   gemm(mma, a, b, c);                                                     dense
//   gemm(mma, make_zip_tensor(a, sfa), make_zip_tensor(b, sfb), c);         with scales
//   gemm(mma, make_zip_tensor(a, e), b, c);                                 A is sparse
//   gemm(mma, make_zip_tensor(a, sfa, e), make_zip_tensor(b, sfb), c);      both
#pragma once

#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/mma_traits/narrow_names.hpp>
#include <zellige/tensor/sparse.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {

namespace detail {

template <class Op>
concept narrow_op = requires {
  typename Op::ScaleRegister;
};

/// The type of the elements of A or B in registers: bytes, or four bits.
template <int bits>
struct stored_type {
  using type = uint8_t;
};
template <>
struct stored_type<4> {
  using type = uint4_t;
};

/// The members of MMA_Traits that every narrow instruction has.
template <class Op>
struct NarrowTraits {
  static constexpr MmaRow row = Op::row();
  using Operation = Op;
  using Stored = typename stored_type<row.stored_bits(row.a)>::type;
  using ValTypeD = number_t<row.d>;
  using ValTypeC = number_t<row.d>;
  using ValTypeB = Stored;
  using Shape_MNK = Shape<Int<row.m>, Int<row.n>, Int<row.k>>;
  using ThrID = mma_layout_t<Op, MmaPart::threads>;
  using ALayout = mma_layout_t<Op, MmaPart::a>;
  using BLayout = mma_layout_t<Op, MmaPart::b>;
  using CLayout = mma_layout_t<Op, MmaPart::c>;
};
/// Those of an A that is stored as a whole.
template <class Op, bool sparse>
struct NarrowOperandA : NarrowTraits<Op> {
  using ValTypeA = typename NarrowTraits<Op>::Stored;
};
/// Those of a sparse A. ELayout has the metadata: a thread's 32 bits are of half a row.
template <class Op>
struct NarrowOperandA<Op, true> : NarrowTraits<Op> {
  using Base = NarrowTraits<Op>;
  static constexpr bool pairs = Base::row.stored_bits(Base::row.a) == 4;
  static constexpr int k = Base::row.k, stored = pairs ? 4 : 2;  // elements of A for each byte that is stored
  using ValTypeA = sparse_elem<stored, conditional_t<pairs, uint8_t, number_t<Base::row.a>>>;
  using ValTypeE = sparse_elem<4 * stored, uint8_t>;
  using FrgTypeA = sparse_elem<stored, uint8_t>;
  using FrgTypeE = ValTypeE;
  using ELayout = conditional_t<
      pairs, Layout<Shape<Shape<_2, _2, _8>, Shape<Int<k / 2>>>, Stride<Stride<_8, Int<8 * k>, _1>, Stride<_16>>>,
      Layout<Shape<Shape<_2, _2, _8>, Int<k / 2>>, Stride<Stride<_8, Int<8 * k>, _1>, _16>>>;
};

}  // namespace detail

template <detail::narrow_op Op>
struct MMA_Traits<Op> : detail::NarrowOperandA<Op, Op::sparse> {};
/// An instruction with scales: each of SFALayout and SFBLayout maps a thread and an element along K to the row of A or B,
/// whose scale is that of the element's block.
template <detail::narrow_op Op>
requires(Op::scaled) struct MMA_Traits<Op> : detail::NarrowOperandA<Op, Op::sparse> {
  static constexpr int SFVecSize = Op::row().scale_block;
  using ValTypeSF = number_t<Op::row().scale>;
  using SFALayout = Layout<Shape<Shape<_2, _2, _8>, Int<Op::row().k>>, Stride<Stride<_8, _0, _1>, _16>>;
  using SFBLayout = Layout<Shape<Shape<_4, _8>, Int<Op::row().k>>, Stride<Stride<_0, _1>, _8>>;
};

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace detail {

/// Returns a thread's scales or metadata, the distinct elements of tensor x, in one register.
template <int bytes, tensor_like X>
ZELLIGE_DEVICE inline uint32_t narrow_word(X const& x) {
  auto const distinct = make_tensor(x.data(), filter_zeros(x.layout()));
  auto const all = recast<uint8_t const>(distinct);
  static_assert(decltype(size(all))::value == bytes,
                "gemm(mma, A, B, C): the fragment of scales or metadata has another number of elements than the "
                "instruction takes");
  uint32_t word = 0;
  ZELLIGE_UNROLL
  for (int i = 0; i < bytes; ++i) word |= static_cast<uint32_t>(all(i)) << (8 * i);
  return word;
}
/// Copies A's or B's elements into registers. Those of a sparse A are each one of several elements of the matrix.
template <int N, tensor_like X>
ZELLIGE_DEVICE inline void narrow_registers(uint32_t (&r)[N], X const& x) {
  if constexpr (is_sparse_v<typename X::value_type>) {
    auto const words = recast<uint32_t const>(x);
    static_assert(
        decltype(size(words))::value == N,
        "gemm(mma, A, B, C): the fragment of a sparse A has another number of elements than the instruction takes");
    ZELLIGE_UNROLL
    for (int i = 0; i < N; ++i) r[i] = words(i);
  } else {
    load_registers(r, x);
  }
}

/// Moves elements of e2m1 in the registers of x to the bits where an instruction on bytes takes them, if `Element` is e2m1
/// and Op is such an instruction: ldmatrix puts them two bits lower.
template <class Op, class Element, tensor_like X>
ZELLIGE_DEVICE inline void shift_e2m1(X&& x) {
  if constexpr (is_same_v<Element, float_e2m1_t> && is_same_v<typename NarrowTraits<Op>::Stored, uint8_t>) {
    auto words = recast<uint32_t>(x);
    ZELLIGE_UNROLL
    for (int i = 0; i < int(size(words)); ++i) words(i) = words(i) << 2;
  }
}

}  // namespace detail

/// Moves the elements of fragment x of A, which ldmatrix has loaded from tiles of four bits, to where Op takes them.
template <detail::narrow_op Op, tensor_like X>
ZELLIGE_DEVICE inline void fp4_shift_A(Op const&, X&& x) {
  detail::shift_e2m1<Op, number_t<detail::NarrowTraits<Op>::row.a>>(x);
}
/// The same for a fragment of B.
template <detail::narrow_op Op, tensor_like X>
ZELLIGE_DEVICE inline void fp4_shift_B(Op const&, X&& x) {
  detail::shift_e2m1<Op, number_t<detail::NarrowTraits<Op>::row.b>>(x);
}

/// Computes d = a * b + c with one instruction that has scales or a sparse A.
template <detail::narrow_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
requires(Op::scaled || Op::sparse) ZELLIGE_DEVICE
    inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  constexpr int scales = sizeof(typename Op::ScaleRegister);
  typename Op::ARegisters ra;
  typename Op::BRegisters rb;
  typename Op::DRegisters rd;
  uint32_t e = 0, sfa = 0, sfb = 0;
  auto const parts = unzip_tensor(a);
  detail::narrow_registers(ra, get<0>(parts));
  if constexpr (Op::scaled) {
    auto const parts_of_b = unzip_tensor(b);
    load_registers(rb, get<0>(parts_of_b));
    sfa = detail::narrow_word<scales>(get<1>(parts));
    sfb = detail::narrow_word<scales>(get<1>(parts_of_b));
  } else {
    load_registers(rb, b);
  }
  if constexpr (Op::sparse) e = detail::narrow_word<4>(get < Op::scaled ? 2 : 1 > (parts));
  load_registers(rd, c);
  Op::call(rd, ra, rb, e, sfa, sfb);
  store_registers(d, rd);
}
#endif

}  // namespace zellige
