// ldmatrix: a warp loads 1, 2 or 4 8x8 matrices of 16-bit elements from shared memory into MMA operand
// fragments.
//
//   uint32_t a[4];
//   ldmatrix_x4(a, tile + row_of(lane) * 64 + column_of(lane));   // lane 8 i + j addresses row j of matrix i
//
// Afterwards a[i] of lane t holds two elements of matrix i: 2 (t % 4) and 2 (t % 4) + 1 of row t / 4; with
// _trans, of column t / 4. Every address must be aligned to 16 bytes. _x1 reads only the addresses of lanes 0
// to 7, _x2 those of lanes 0 to 15. All 32 threads call it.
#pragma once

#include <zellige/atom/pointer.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/emulated_body.hpp>
#endif

namespace zellige {

#if defined(ZELLIGE_EMULATE)

/// Performs ldmatrix on the emulator, as a warp collective. Row is the instruction's CuTe name, `row` the address
/// that this thread passes, `name` the call's name in error reports.
template <int Matrices, const char* Row>
ZELLIGE_CALL void ldmatrix(uint32_t (&r)[Matrices], emulate::Place row, const char* name) {
  struct Out {
    uint32_t r[Matrices];
  };
  const auto compute = [](const emulate::Place* in, Out* out) {
    emulate::count(emulate::Counter::ldmatrix);
    const void* safe[32] = {};
    emulate::read_rows(in, Matrices, safe);
    void* registers[32];
    for (int t = 0; t < 32; ++t) registers[t] = out[t].r;
    run_body<Row>({safe, nullptr, nullptr, registers});
  };
  const Out result = emulate::meet<emulate::Place, Out>(row, compute, name);
  for (int i = 0; i < Matrices; ++i) r[i] = result.r[i];
}
namespace ldmatrix_rows {
inline constexpr char x1[] = "SM75_U32x1_LDSM_N", x2[] = "SM75_U32x2_LDSM_N", x4[] = "SM75_U32x4_LDSM_N",
                      x1_trans[] = "SM75_U16x2_LDSM_T", x2_trans[] = "SM75_U16x4_LDSM_T",
                      x4_trans[] = "SM75_U16x8_LDSM_T";
}

template <class T>
ZELLIGE_CALL void ldmatrix_x1(uint32_t (&r)[1], emulate::pointer<T> row) {
  ldmatrix<1, ldmatrix_rows::x1>(r, row, "ldmatrix_x1");
}
template <class T>
ZELLIGE_CALL void ldmatrix_x2(uint32_t (&r)[2], emulate::pointer<T> row) {
  ldmatrix<2, ldmatrix_rows::x2>(r, row, "ldmatrix_x2");
}
template <class T>
ZELLIGE_CALL void ldmatrix_x4(uint32_t (&r)[4], emulate::pointer<T> row) {
  ldmatrix<4, ldmatrix_rows::x4>(r, row, "ldmatrix_x4");
}
template <class T>
ZELLIGE_CALL void ldmatrix_x1_trans(uint32_t (&r)[1], emulate::pointer<T> row) {
  ldmatrix<1, ldmatrix_rows::x1_trans>(r, row, "ldmatrix_x1_trans");
}
template <class T>
ZELLIGE_CALL void ldmatrix_x2_trans(uint32_t (&r)[2], emulate::pointer<T> row) {
  ldmatrix<2, ldmatrix_rows::x2_trans>(r, row, "ldmatrix_x2_trans");
}
template <class T>
ZELLIGE_CALL void ldmatrix_x4_trans(uint32_t (&r)[4], emulate::pointer<T> row) {
  ldmatrix<4, ldmatrix_rows::x4_trans>(r, row, "ldmatrix_x4_trans");
}

#else

ZELLIGE_CALL void ldmatrix_x1(uint32_t (&r)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(smem_address(row)) : "memory");
}
ZELLIGE_CALL void ldmatrix_x2(uint32_t (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(smem_address(row))
               : "memory");
}
ZELLIGE_CALL void ldmatrix_x4(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_address(row))
               : "memory");
}
ZELLIGE_CALL void ldmatrix_x1_trans(uint32_t (&r)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(smem_address(row))
               : "memory");
}
ZELLIGE_CALL void ldmatrix_x2_trans(uint32_t (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(smem_address(row))
               : "memory");
}
ZELLIGE_CALL void ldmatrix_x4_trans(uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_address(row))
               : "memory");
}

#endif

}  // namespace zellige
