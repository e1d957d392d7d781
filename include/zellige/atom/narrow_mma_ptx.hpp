// Issues the matrix instructions of SM120 on narrow floats by inline PTX: d += a b. There is one function for each list
// of operands; the mnemonic is the string Mnemonic::string. Device code of nvcc only.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige::detail {

/// D, A, B.
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[2]) {
  asm volatile("%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Mnemonic::text));
}
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma(uint32_t (&d)[2], uint32_t const (&a)[4], uint32_t const (&b)[2]) {
  asm volatile("%8 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(Mnemonic::text));
}
/// D, A, B and the metadata of a sparse A.
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma_sparse(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[4], uint32_t e) {
  asm volatile("%13 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e),
                 "C"(Mnemonic::text));
}
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma_sparse(uint32_t (&d)[2], uint32_t const (&a)[4], uint32_t const (&b)[4], uint32_t e) {
  asm volatile("%11 {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, 0x0;"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e),
                 "C"(Mnemonic::text));
}
/// D, A, B and the scales of A and B, which begin in byte 0 of thread 0 of each four.
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma_scaled(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[2], uint32_t sfa,
                                    uint32_t sfb) {
  asm volatile(
      "%13 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%11, %11}, {%12}, {%11, %11};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(sfa), "h"(uint16_t(0)), "r"(sfb),
        "C"(Mnemonic::text));
}
/// D, A, B, the metadata and the scales.
template <class Mnemonic>
ZELLIGE_CALL void narrow_mma_scaled_sparse(float (&d)[4], uint32_t const (&a)[4], uint32_t const (&b)[4], uint32_t e,
                                           uint32_t sfa, uint32_t sfb) {
  asm volatile(
      "%16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, {%12}, 0x0, {%13}, {%14, %14}, "
      "{%15}, {%14, %14};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e), "r"(sfa),
        "h"(uint16_t(0)), "r"(sfb), "C"(Mnemonic::text));
}

}  // namespace zellige::detail
