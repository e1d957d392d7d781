// Warp matrix multiply-accumulate (mma.sync): d += a b, with fragments distributed over the warp's threads.
//
//   float d[4] = {};
//   uint32_t a[4], b[2];                        // fragments as ldmatrix leaves them
//   mma_m16n8k16<half_t>(d, a, b);              // or bfloat16_t; uint32_t d[2] accumulates in f16
//
// Each struct is a row of mma_traits/table.hpp, under CuTe's name, with its PTX. On the emulator the call is
// a warp collective that runs the row's reference body once.
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

/// Selects the instruction by operand type T, K, and the accumulator register type.
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

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)

#if defined(ZELLIGE_EMULATE)
/// The bytes per number if registers are checked for unwritten values; 0: integers.
template <class Op>
struct MmaNumbers {
  static constexpr int operand = emulate::number_bytes<typename Op::Element>,
                       sum = emulate::number_bytes<typename Op::Accumulator>;
};
#endif

/// d += a b by the instruction Row, of this file or of mma_traits/names.hpp.
template <class Row>
ZELLIGE_CALL void mma(typename Row::DRegisters& d, const typename Row::ARegisters& a,
                      const typename Row::BRegisters& b) {
#if defined(ZELLIGE_EMULATE)
  mma_met<Row, MmaNumbers<Row>::operand, MmaNumbers<Row>::sum>(d, a, b);
#else
  Row::call(d, a, b);
#endif
}

template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k16(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 16, D>::type>(d, a, b);
}
template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k8(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 8, D>::type>(d, a, b);
}
template <class T, class D, int ND, int NA, int NB>
ZELLIGE_CALL void mma_m16n8k4(D (&d)[ND], const uint32_t (&a)[NA], const uint32_t (&b)[NB]) {
  mma<typename mma_row<T, 4, D>::type>(d, a, b);
}

#endif

}  // namespace zellige
