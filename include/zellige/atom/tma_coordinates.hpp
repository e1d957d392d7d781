// Defines the macros with which tma_load.hpp and tma_store.hpp generate TMA calls for 1 to 5 dimensions. Inline PTX
// needs a literal operand list per number of dimensions. Operands %0 to %4 are defined by each call; the coordinates
// begin at %5.
#pragma once

#define ZELLIGE_TMA_PARAMETERS_1 int c0
#define ZELLIGE_TMA_PARAMETERS_2 int c0, int c1
#define ZELLIGE_TMA_PARAMETERS_3 int c0, int c1, int c2
#define ZELLIGE_TMA_PARAMETERS_4 int c0, int c1, int c2, int c3
#define ZELLIGE_TMA_PARAMETERS_5 int c0, int c1, int c2, int c3, int c4
#define ZELLIGE_TMA_NAMES_1 c0
#define ZELLIGE_TMA_NAMES_2 c0, c1
#define ZELLIGE_TMA_NAMES_3 c0, c1, c2
#define ZELLIGE_TMA_NAMES_4 c0, c1, c2, c3
#define ZELLIGE_TMA_NAMES_5 c0, c1, c2, c3, c4
#define ZELLIGE_TMA_LIST_1 "{%5}"
#define ZELLIGE_TMA_LIST_2 "{%5, %6}"
#define ZELLIGE_TMA_LIST_3 "{%5, %6, %7}"
#define ZELLIGE_TMA_LIST_4 "{%5, %6, %7, %8}"
#define ZELLIGE_TMA_LIST_5 "{%5, %6, %7, %8, %9}"
#define ZELLIGE_TMA_OPERANDS_1 "r"(c0)
#define ZELLIGE_TMA_OPERANDS_2 "r"(c0), "r"(c1)
#define ZELLIGE_TMA_OPERANDS_3 "r"(c0), "r"(c1), "r"(c2)
#define ZELLIGE_TMA_OPERANDS_4 "r"(c0), "r"(c1), "r"(c2), "r"(c3)
#define ZELLIGE_TMA_OPERANDS_5 "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
// im2col loads with N dimensions take N - 2 filter offsets, after the coordinates.
#define ZELLIGE_TMA_OFFSETS_3 uint16_t o0
#define ZELLIGE_TMA_OFFSETS_4 uint16_t o0, uint16_t o1
#define ZELLIGE_TMA_OFFSETS_5 uint16_t o0, uint16_t o1, uint16_t o2
#define ZELLIGE_TMA_OFFSET_NAMES_3 o0
#define ZELLIGE_TMA_OFFSET_NAMES_4 o0, o1
#define ZELLIGE_TMA_OFFSET_NAMES_5 o0, o1, o2
#define ZELLIGE_TMA_OFFSET_LIST_3 "{%8}"
#define ZELLIGE_TMA_OFFSET_LIST_4 "{%9, %10}"
#define ZELLIGE_TMA_OFFSET_LIST_5 "{%10, %11, %12}"
#define ZELLIGE_TMA_OFFSET_OPERANDS_3 "h"(o0)
#define ZELLIGE_TMA_OFFSET_OPERANDS_4 "h"(o0), "h"(o1)
#define ZELLIGE_TMA_OFFSET_OPERANDS_5 "h"(o0), "h"(o1), "h"(o2)
