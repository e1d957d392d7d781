// Wraps PTX's stmatrix, the inverse of ldmatrix: a warp stores one, two or four 8x8 matrices of 16-bit elements from
// registers to shared memory. All 32 threads must call it.
//
//   uint32_t r[4] = {pack<half_t>(d[0], d[1]), ...};
//   stmatrix_x4(tile + row_of(lane) * 64 + column_of(lane), r);   // lane 8 i + j addresses row j of matrix i
//
// Thread t passes in r[i] two elements of matrix i: 2 (t % 4) and 2 (t % 4) + 1 of row t / 4; with _trans, of column t
// / 4. The addresses are multiples of 16 bytes.
#pragma once

#include <zellige/atom/pointer.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/emulated_body.hpp>
#endif

namespace zellige {

#if defined(ZELLIGE_EMULATE)

/// Performs stmatrix on the emulator, as a warp collective. Row is the instruction's CuTe name, `row` the address
/// that this thread passes, `name` the call's name in error reports.
template <int Matrices, const char* Row>
ZELLIGE_CALL void stmatrix(emulate::Place row, const uint32_t (&r)[Matrices], const char* name) {
  struct In {
    emulate::Place row;
    uint32_t r[Matrices];
  };
  struct Out {};
  const auto compute = [](const In* in, Out*) {
    emulate::count(emulate::Counter::stmatrix);
    emulate::Place rows[32];
    const void* registers[32];
    for (int t = 0; t < 32; ++t) rows[t] = in[t].row, registers[t] = in[t].r;
    void* safe[32] = {};
    emulate::write_rows(rows, Matrices, safe);
    run_body<Row>({registers, nullptr, nullptr, safe});
  };
  In mine{row, {}};
  for (int i = 0; i < Matrices; ++i) {
    mine.r[i] = r[i];
    emulate::look_for_poison(emulate::self(), r[i]);
  }
  emulate::meet<In, Out>(mine, compute, name);
}

namespace stmatrix_rows {
inline constexpr char x1[] = "SM90_U32x1_STSM_N", x2[] = "SM90_U32x2_STSM_N", x4[] = "SM90_U32x4_STSM_N",
                      x1_trans[] = "SM90_U16x2_STSM_T", x2_trans[] = "SM90_U16x4_STSM_T",
                      x4_trans[] = "SM90_U16x8_STSM_T";
}

ZELLIGE_CALL void stmatrix_x1(any_pointer row, const uint32_t (&r)[1]) {
  stmatrix<1, stmatrix_rows::x1>(row, r, "stmatrix_x1");
}
ZELLIGE_CALL void stmatrix_x2(any_pointer row, const uint32_t (&r)[2]) {
  stmatrix<2, stmatrix_rows::x2>(row, r, "stmatrix_x2");
}
ZELLIGE_CALL void stmatrix_x4(any_pointer row, const uint32_t (&r)[4]) {
  stmatrix<4, stmatrix_rows::x4>(row, r, "stmatrix_x4");
}
ZELLIGE_CALL void stmatrix_x1_trans(any_pointer row, const uint32_t (&r)[1]) {
  stmatrix<1, stmatrix_rows::x1_trans>(row, r, "stmatrix_x1_trans");
}
ZELLIGE_CALL void stmatrix_x2_trans(any_pointer row, const uint32_t (&r)[2]) {
  stmatrix<2, stmatrix_rows::x2_trans>(row, r, "stmatrix_x2_trans");
}
ZELLIGE_CALL void stmatrix_x4_trans(any_pointer row, const uint32_t (&r)[4]) {
  stmatrix<4, stmatrix_rows::x4_trans>(row, r, "stmatrix_x4_trans");
}

#else

ZELLIGE_CALL void stmatrix_x1(any_pointer row, const uint32_t (&r)[1]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(smem_address(row)), "r"(r[0]) : "memory");
}
ZELLIGE_CALL void stmatrix_x2(any_pointer row, const uint32_t (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(smem_address(row)), "r"(r[0]), "r"(r[1])
               : "memory");
}
ZELLIGE_CALL void stmatrix_x4(any_pointer row, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(row)), "r"(r[0]),
               "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
ZELLIGE_CALL void stmatrix_x1_trans(any_pointer row, const uint32_t (&r)[1]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(smem_address(row)), "r"(r[0])
               : "memory");
}
ZELLIGE_CALL void stmatrix_x2_trans(any_pointer row, const uint32_t (&r)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(smem_address(row)), "r"(r[0]),
               "r"(r[1])
               : "memory");
}
ZELLIGE_CALL void stmatrix_x4_trans(any_pointer row, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(row)),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

#endif

}  // namespace zellige
