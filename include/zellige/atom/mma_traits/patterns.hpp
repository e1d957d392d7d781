// Defines the macros with which names.hpp declares warp matrix instructions: one macro per combination of register
// counts. In a macro's name, such as ZELLIGE_MMA_F421, the letter is the type of the registers of D: float (F),
// int32_t (I), uint32_t with a pair of halves (H) or double (D). The digits are the numbers of registers of D (4), A
// (2) and B (1).
#pragma once

#include <zellige/atom/mma_traits/fma.hpp>

// ZELLIGE_MMA_ASM defines an instruction's function `call`. Inline PTX needs its mnemonic as a string literal and its
// operands one by one, so each macro below passes them as tokens.
// clang-format off
#if defined(__CUDACC__)
#define ZELLIGE_MMA_ASM(text, outs, ins)                                \
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) { \
    asm volatile(text : outs : ins);                                    \
  }
#else
#define ZELLIGE_MMA_ASM(text, outs, ins)
#endif
#define ZELLIGE_PARTS(...) __VA_ARGS__
#define ZELLIGE_MMA(op, D, nd, A, na, nb, text, outs, ins)      \
  struct op : detail::RegisterByRegister<op> {                  \
    static constexpr char name[] = #op;                         \
    using DRegisters = D[nd];                                   \
    using ARegisters = A[na];                                   \
    using BRegisters = A[nb];                                   \
    using CRegisters = D[nd];                                   \
    ZELLIGE_MMA_ASM(text, ZELLIGE_PARTS outs, ZELLIGE_PARTS ins) \
  };
#define ZELLIGE_MMA_H422(op, rest) \
  ZELLIGE_MMA(op, uint32_t, 4, uint32_t, 2, 2, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3};", \
              ("+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])), \
              ("r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1])))
#define ZELLIGE_MMA_F822(op, rest) \
  ZELLIGE_MMA(op, float, 8, uint32_t, 2, 2, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};", \
              ("+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])), \
              ("r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1])))
#define ZELLIGE_MMA_H221(op, rest) \
  ZELLIGE_MMA(op, uint32_t, 2, uint32_t, 2, 1, \
              "mma.sync.aligned." rest " {%0, %1}, {%2, %3}, {%4}, {%0, %1};", \
              ("+r"(d[0]), "+r"(d[1])), \
              ("r"(a[0]), "r"(a[1]), "r"(b[0])))
#define ZELLIGE_MMA_F421(op, rest) \
  ZELLIGE_MMA(op, float, 4, uint32_t, 2, 1, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", \
              ("+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])), \
              ("r"(a[0]), "r"(a[1]), "r"(b[0])))
#define ZELLIGE_MMA_I211(op, rest) \
  ZELLIGE_MMA(op, int32_t, 2, uint32_t, 1, 1, \
              "mma.sync.aligned." rest " {%0, %1}, {%2}, {%3}, {%0, %1};", \
              ("+r"(d[0]), "+r"(d[1])), \
              ("r"(a[0]), "r"(b[0])))
#define ZELLIGE_MMA_D211(op, rest) \
  ZELLIGE_MMA(op, double, 2, double, 1, 1, \
              "mma.sync.aligned." rest " {%0, %1}, {%2}, {%3}, {%0, %1};", \
              ("+d"(d[0]), "+d"(d[1])), \
              ("d"(a[0]), "d"(b[0])))
#define ZELLIGE_MMA_I421(op, rest) \
  ZELLIGE_MMA(op, int32_t, 4, uint32_t, 2, 1, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", \
              ("+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])), \
              ("r"(a[0]), "r"(a[1]), "r"(b[0])))
#define ZELLIGE_MMA_I442(op, rest) \
  ZELLIGE_MMA(op, int32_t, 4, uint32_t, 4, 2, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};", \
              ("+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])), \
              ("r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#define ZELLIGE_MMA_F442(op, rest) \
  ZELLIGE_MMA(op, float, 4, uint32_t, 4, 2, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};", \
              ("+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])), \
              ("r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#define ZELLIGE_MMA_H242(op, rest) \
  ZELLIGE_MMA(op, uint32_t, 2, uint32_t, 4, 2, \
              "mma.sync.aligned." rest " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};", \
              ("+r"(d[0]), "+r"(d[1])), \
              ("r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#define ZELLIGE_MMA_D421(op, rest) \
  ZELLIGE_MMA(op, double, 4, double, 2, 1, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", \
              ("+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])), \
              ("d"(a[0]), "d"(a[1]), "d"(b[0])))
#define ZELLIGE_MMA_D442(op, rest) \
  ZELLIGE_MMA(op, double, 4, double, 4, 2, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};", \
              ("+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])), \
              ("d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1])))
#define ZELLIGE_MMA_D484(op, rest) \
  ZELLIGE_MMA(op, double, 4, double, 8, 4, \
              "mma.sync.aligned." rest " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};", \
              ("+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])), \
              ("d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3])))
// clang-format on
