// Wraps PTX's warp matrix multiply-accumulate (mma.sync): d += a b, with fragments in the registers of the warp's
// 32 threads. Defines one struct per f16, bf16 and tf32 instruction of SM80, under CuTe's name, with its PTX.
//
//   float d[4] = {};
//   uint32_t a[4], b[2];                        // fragments as ldmatrix leaves them
//   mma_m16n8k16<half_t>(d, a, b);              // or bfloat16_t; uint32_t d[2] accumulates in f16
//
// mma_traits/names.hpp has the other types and architectures. Shapes and fragment layouts follow from the name
// (mma_traits/table.hpp). On the emulator a call is a warp collective, which the instruction's reference
// implementation computes once for the 32 threads.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/mma_traits/fma.hpp>
#include <zellige/atom/tfloat32.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/mma_emulated.hpp>
#endif

namespace zellige {

struct SM80_16x8x16_F32F16F16F32_TN : detail::RegisterByRegister<SM80_16x8x16_F32F16F16F32_TN> {
  using Element = half_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[2];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x16_F32F16F16F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
};

struct SM80_16x8x16_F16F16F16F16_TN : detail::RegisterByRegister<SM80_16x8x16_F16F16F16F16_TN> {
  using Element = half_t;
  using Accumulator = half_t;
  using DRegisters = uint32_t[2];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[2];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x16_F16F16F16F16_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
};

struct SM80_16x8x16_F32BF16BF16F32_TN : detail::RegisterByRegister<SM80_16x8x16_F32BF16BF16F32_TN> {
  using Element = bfloat16_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[2];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x16_F32BF16BF16F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
};

struct SM80_16x8x8_F32F16F16F32_TN : detail::RegisterByRegister<SM80_16x8x8_F32F16F16F32_TN> {
  using Element = half_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[2];
  using BRegisters = uint32_t[1];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x8_F32F16F16F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
#endif
};

struct SM80_16x8x8_F16F16F16F16_TN : detail::RegisterByRegister<SM80_16x8x8_F16F16F16F16_TN> {
  using Element = half_t;
  using Accumulator = half_t;
  using DRegisters = uint32_t[2];
  using ARegisters = uint32_t[2];
  using BRegisters = uint32_t[1];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x8_F16F16F16F16_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
#endif
};

struct SM80_16x8x8_F32BF16BF16F32_TN : detail::RegisterByRegister<SM80_16x8x8_F32BF16BF16F32_TN> {
  using Element = bfloat16_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[2];
  using BRegisters = uint32_t[1];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x8_F32BF16BF16F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
#endif
};

struct SM80_16x8x8_F32TF32TF32F32_TN : detail::RegisterByRegister<SM80_16x8x8_F32TF32TF32F32_TN> {
  using Element = tfloat32_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[2];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x8_F32TF32TF32F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
};

struct SM80_16x8x4_F32TF32TF32F32_TN : detail::RegisterByRegister<SM80_16x8x4_F32TF32TF32F32_TN> {
  using Element = tfloat32_t;
  using Accumulator = float;
  using DRegisters = float[4];
  using ARegisters = uint32_t[2];
  using BRegisters = uint32_t[1];
  using CRegisters = DRegisters;
  static constexpr char name[] = "SM80_16x8x4_F32TF32TF32F32_TN";
#if defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
#endif
};

struct float_e4m3_t;  // float8.hpp
struct float_e5m2_t;
struct SM89_16x8x32_F32E4M3E4M3F32_TN;  // mma_traits/names.hpp
struct SM89_16x8x32_F32E5M2E5M2F32_TN;

/// Maps an operand type T, the K extent and the accumulators' register type D to the m16n8 instruction, as `type`.
/// D is float, or uint32_t for packed f16 accumulators. Other combinations do not compile.
template <class T, int K, class D>
struct mma_row;
template <>
struct mma_row<half_t, 16, float> {
  using type = SM80_16x8x16_F32F16F16F32_TN;
};
template <>
struct mma_row<half_t, 16, uint32_t> {
  using type = SM80_16x8x16_F16F16F16F16_TN;
};
template <>
struct mma_row<bfloat16_t, 16, float> {
  using type = SM80_16x8x16_F32BF16BF16F32_TN;
};
template <>
struct mma_row<half_t, 8, float> {
  using type = SM80_16x8x8_F32F16F16F32_TN;
};
template <>
struct mma_row<half_t, 8, uint32_t> {
  using type = SM80_16x8x8_F16F16F16F16_TN;
};
template <>
struct mma_row<bfloat16_t, 8, float> {
  using type = SM80_16x8x8_F32BF16BF16F32_TN;
};
template <>
struct mma_row<tfloat32_t, 8, float> {
  using type = SM80_16x8x8_F32TF32TF32F32_TN;
};
template <>
struct mma_row<tfloat32_t, 4, float> {
  using type = SM80_16x8x4_F32TF32TF32F32_TN;
};
template <>
struct mma_row<float_e4m3_t, 32, float> {
  using type = SM89_16x8x32_F32E4M3E4M3F32_TN;
};
template <>
struct mma_row<float_e5m2_t, 32, float> {
  using type = SM89_16x8x32_F32E5M2E5M2F32_TN;
};

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)

#if defined(ZELLIGE_EMULATE)
/// Bytes per number in the registers of the operands and the accumulators of Op. The emulator uses them to find
/// registers that were never written; 0 disables the check, for integers.
template <class Op>
struct MmaNumbers {
  static constexpr int operand = emulate::number_bytes<typename Op::Element>,
                       sum = emulate::number_bytes<typename Op::Accumulator>;
};
#endif

/// Computes d += a b with the warp instruction Row, a struct of this file or of mma_traits/names.hpp, or an
/// Unpacked (mma_unpacked.hpp). All 32 threads
/// of the warp must call it, each with its fragments.
template <class Row>
ZELLIGE_CALL void mma(typename Row::DRegisters& d, const typename Row::ARegisters& a,
                      const typename Row::BRegisters& b) {
#if defined(ZELLIGE_EMULATE)
  if constexpr (requires { Row::call(d, a, b); })  // it executes other instructions
    Row::call(d, a, b);
  else
    mma_met<Row, MmaNumbers<Row>::operand, MmaNumbers<Row>::sum>(d, a, b);
#else
  Row::call(d, a, b);
#endif
}

/// Computes d += a b for 16x8x16 tiles of T (half_t or bfloat16_t). D is float (4 per thread), or uint32_t for packed
/// f16 accumulators (2 per thread).
template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k16(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 16, D>::type>(d, a, b);
}
/// Computes d += a b for 16x8x8 tiles of T (half_t, bfloat16_t or tfloat32_t). D is float (4 per thread), or uint32_t
/// for packed f16 accumulators (2 per thread).
template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k8(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 8, D>::type>(d, a, b);
}
/// Computes d += a b for 16x8x4 tiles of tfloat32_t; D is float.
template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k4(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 4, D>::type>(d, a, b);
}

#endif

}  // namespace zellige
