// Decides which matmul operands are first copied into tensors with padded rows, because their rows are not aligned
// for cp.async or TMA, and creates the kernel that copies them.
//
// Rows of 777 halves are only 2-byte aligned: threads must load them through registers (load_anywhere) and wait for
// the loads. A copy into rows of 784 halves reads the operand once; the matmul's own loads are then asynchronous.
#pragma once
#include <cstdint>
#include <optional>

#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// Sets of a kernel's operands of products, by number among those whose lines begin at no multiple of 16 bytes.
struct OperandCopies {
  std::uint32_t made = 0, possible = 0;  // those that read copies, and those that may
  bool operator==(const OperandCopies&) const = default;
};

/// The kernel NAME_copy that makes copies of operands, which must run before; nullopt if there are none.
struct AlignedOperands {
  std::optional<tile::TileProgram> kernel;
  OperandCopies copies;
};

/// Makes a custom operator's kernel read its matmul operands from copies with aligned rows, if their rows are
/// unaligned: those of `copied`, or without it those of which a copy is likely to pay. The caller decides by expected
/// times which copies it keeps (plan::lowered). Each block of the copying kernel copies at most one tile of each tensor.
AlignedOperands align_operands(tile::TilePrograms&, tile::TileProgram&, std::optional<std::uint32_t> copied,
                               const target::Target&);

}  // namespace zellige::lower
