// ldmatrix and stmatrix of bytes, under CuTe's names: matrices of bytes are transposed, and rows of 16 elements of 4 or 6 bits
// become bytes (SU4, SU6), whose bits they are from the lowest on. A row of such elements has 16 bytes, of which the
// elements are the first 8 or 12.
//
//   Copy_Atom<SM100_U8x16_LDSM_T, uint8_t>                 16x16 matrices, transposed as they are loaded
//   Copy_Atom<SM100_SU4_DU8x16_x4_LDSM_N, uint8_t>         4 8x16 matrices of 4-bit elements
//
// All GPUs of sm_100a, sm_103a and sm_120a have them. They are not on the emulator.
#pragma once

#include <zellige/atom/composed_text.hpp>
#include <zellige/atom/copy_call.hpp>

namespace zellige {

namespace detail {

/// The PTX of the ldmatrix or stmatrix Op of bytes, up to its operands.
template <class Op>
struct ByteMatrixMnemonic {
  ZELLIGE_ALGEBRA static constexpr ComposedText make() {
    constexpr CopyRow row = find_copy(Op::name);
    ComposedText t;
    switch (row.kind) {
      case CopyRow::Kind::byte_columns:
        t += "ldmatrix.sync.aligned.m16n16.x";
        t += row.matrices / 2;
        t += ".trans.shared.b8";
        break;
      case CopyRow::Kind::to_byte_columns:
        t += "stmatrix.sync.aligned.m16n8.x";
        t += row.matrices;
        t += ".trans.shared.b8";
        break;
      default:
        t += "ldmatrix.sync.aligned.m8n16.x";
        t += row.matrices;
        t += Op::name[8] == '4' ? ".shared.b8x16.b4x16_p64" : ".shared.b8x16.b6x16_p32";
    }
    return t;
  }
  static constexpr ComposedText composed = make();
};

#if defined(__CUDACC__)
template <class Mnemonic>
ZELLIGE_CALL void load_bytes(uint32_t (&r)[1], uint32_t row) {
  asm volatile("%2 {%0}, [%1];" : "=r"(r[0]) : "r"(row), "C"(Mnemonic::text) : "memory");
}
template <class Mnemonic>
ZELLIGE_CALL void load_bytes(uint32_t (&r)[2], uint32_t row) {
  asm volatile("%3 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(row), "C"(Mnemonic::text) : "memory");
}
template <class Mnemonic>
ZELLIGE_CALL void load_bytes(uint32_t (&r)[4], uint32_t row) {
  asm volatile("%5 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row), "C"(Mnemonic::text)
               : "memory");
}
template <class Mnemonic>
ZELLIGE_CALL void store_bytes(uint32_t row, uint32_t const (&r)[1]) {
  asm volatile("%2 [%0], {%1};" ::"r"(row), "r"(r[0]), "C"(Mnemonic::text) : "memory");
}
template <class Mnemonic>
ZELLIGE_CALL void store_bytes(uint32_t row, uint32_t const (&r)[2]) {
  asm volatile("%3 [%0], {%1, %2};" ::"r"(row), "r"(r[0]), "r"(r[1]), "C"(Mnemonic::text) : "memory");
}
template <class Mnemonic>
ZELLIGE_CALL void store_bytes(uint32_t row, uint32_t const (&r)[4]) {
  asm volatile("%5 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "C"(Mnemonic::text)
               : "memory");
}
#endif

/// Registers and calls of an instruction that moves N registers of each thread from or to the rows that the threads address.
template <class Op, int N, bool load>
struct ByteMatrix {
  using Registers = uint32_t[N];
  using SRegisters = conditional_t<load, uint128_t[1], Registers>;
  using DRegisters = conditional_t<load, Registers, uint128_t[1]>;
  using ByteRegisters = Registers;

#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(Registers& r, void const* row) {
    using M = LettersOf<ByteMatrixMnemonic<Op>>;
    auto const address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (load) {
      load_bytes<M>(r, address);
      // Two registers of a 16x16 matrix have the columns of two 8x8 matrices each; stmatrix takes those of one matrix.
      if constexpr (copy_row_of<Op>::value.kind == CopyRow::Kind::byte_columns) {
        ZELLIGE_UNROLL
        for (int i = 0; i < N; i += 2) {
          uint32_t const low = r[i], high = r[i + 1];
          r[i] = (low & 0xffffu) | high << 16;
          r[i + 1] = low >> 16 | (high & 0xffff0000u);
        }
      }
    } else {
      store_bytes<M>(address, r);
    }
  }
#endif
};

template <class Op>
concept byte_matrix = requires {
  typename Op::ByteRegisters;
};

}  // namespace detail

#define ZELLIGE_BYTES(op, n, load)              \
  struct op : detail::ByteMatrix<op, n, load> { \
    static constexpr char name[] = #op;         \
  };
ZELLIGE_BYTES(SM100_U8x8_LDSM_T, 2, true)
ZELLIGE_BYTES(SM100_U8x16_LDSM_T, 4, true)
ZELLIGE_BYTES(SM100_SU4_DU8x16_x1_LDSM_N, 1, true)
ZELLIGE_BYTES(SM100_SU4_DU8x16_x2_LDSM_N, 2, true)
ZELLIGE_BYTES(SM100_SU4_DU8x16_x4_LDSM_N, 4, true)
ZELLIGE_BYTES(SM100_SU6_DU8x16_x1_LDSM_N, 1, true)
ZELLIGE_BYTES(SM100_SU6_DU8x16_x2_LDSM_N, 2, true)
ZELLIGE_BYTES(SM100_SU6_DU8x16_x4_LDSM_N, 4, true)
ZELLIGE_BYTES(SM100_U8x4_STSM_T, 1, false)
ZELLIGE_BYTES(SM100_U8x8_STSM_T, 2, false)
ZELLIGE_BYTES(SM100_U8x16_STSM_T, 4, false)
#undef ZELLIGE_BYTES

#if defined(__CUDACC__)
template <detail::byte_matrix Op, tensor_like TS, tensor_like TD>
ZELLIGE_DEVICE inline void copy_unpack(Copy_Traits<Op> const&, TS const& src, TD&& dst) {
  constexpr bool load = detail::copy_row_of<Op>::value.kind != CopyRow::Kind::to_byte_columns;
  typename Op::ByteRegisters r;
  if constexpr (load) {
    static_assert(detail::may_be_in<smem_tag, TS>, "ldmatrix reads shared memory: make_smem_ptr");
    Op::call(r, first_address(src));
    store_registers(dst, r);
  } else {
    static_assert(detail::may_be_in<smem_tag, remove_cvref_t<TD>>, "stmatrix writes shared memory: make_smem_ptr");
    load_registers(r, src);
    Op::call(r, first_address(dst));
  }
}
#endif

}  // namespace zellige
