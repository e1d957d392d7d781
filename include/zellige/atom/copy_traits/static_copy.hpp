// StaticCopy and StaticCall: give a copy instruction's type the static function copy(...), with each register as a
// separate argument, as in CuTe.
//
//   SM75_U32x2_LDSM_N::copy(row, r[0], r[1]);      // row: the 16 bytes of shared memory that this thread reads
//   SM90_TMA_LOAD_2D::copy(map, &barrier, hint, tile, x, y);
//
// They call issue_copy(Op, ...), which issue_copy.hpp defines for every instruction.
#pragma once

#include <zellige/layout/config.hpp>

namespace zellige::detail {

/// The base of copy instruction type Op. Count is the number of operands of copy; if it is -1, issue_copy
/// checks the number.
template <class Op, int Count = -1>
struct StaticCopy {
  /// Issues the instruction Op once. `operands` are its registers, addresses and coordinates, each a separate
  /// argument. Does nothing in host code.
  template <class... Operand>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] Operand&&... operands) {
    static_assert(Count < 0 || int(sizeof...(Operand)) == Count,
                  "copy of this instruction takes another number of operands, one for each coordinate");
#if defined(__CUDA_ARCH__)
    issue_copy(Op{}, operands...);
#endif
  }
};

/// The base of copy instruction type Op whose first operands, of types By, are arguments by value, as CuTe's are: one may
/// then be a static constant of a class, which has no address in device code. Count is the number of operands that
/// follow them; if it is -1, issue_copy checks the number.
template <class Op, int Count, class... By>
struct StaticCall {
  /// Issues the instruction Op once. Does nothing in host code.
  template <class... Rest>
  ZELLIGE_HOST_DEVICE static void copy([[maybe_unused]] By... by, [[maybe_unused]] Rest const&... rest) {
    static_assert(Count < 0 || int(sizeof...(Rest)) == Count,
                  "copy of this instruction takes another number of operands, one for each coordinate");
#if defined(__CUDA_ARCH__)
    issue_copy(Op{}, by..., rest...);
#endif
  }
};

}  // namespace zellige::detail
