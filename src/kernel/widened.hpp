// Operands of matmuls that are widened from 4 or 8 bits in registers, from their bytes, scales and zero points: the operand itself has
// no tensor in shared memory.
//
//   round((unpack(bytes) - zero) * scale)     zero and scale: one number for each run of K of a column, or none
//   round(unpack(bytes) * scale + zero)
//
// It is B of a product by mma.sync, whose step widens it, or A of one by wgmma, which steps of its own widen, `to_operand` in two parts. The first
// reads the bytes in a stage of the producer's ring, and scales and zero points in global memory; the second makes the operand of them, in
// registers. The loop's schedule decides when each begins: the first does not touch the operand, and runs while the product of the
// iteration before is in flight.
#pragma once
#include <optional>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// An operand of a matmul, (K, N) or, if it is A, (N, K), as it is computed from weights of 4 or 8 bits.
struct WidenedOperand {
  int round = -1, bytes = -1;  // the operand; the load of its bytes, which lie along K
  int scale = -1, zero = -1;   // loads of (K / run, N), or of (N, K / run); -1: none
  std::int64_t scale_run = 0, zero_run = 0;
  bool added = false;  // zero is added to the scaled numbers, rather than subtracted before
  graph::DType packed{};
  int side = 1;  // 0: A

  /// Returns the loads of which the operand is made.
  std::vector<int> loads() const {
    std::vector<int> all{bytes};
    for (const int i : {scale, zero})
      if (i >= 0) all.push_back(i);
    return all;
  }
};

/// The parts of the work that widens an operand (Work::part): what loads its bytes and numbers into registers, and what makes it of them.
inline constexpr int loads_bytes = 0, makes_operand = 1;

/// Returns the registers of a thread, of `threads`, that an operand of `rows` rows and K = `k` takes as A of a product by wgmma: the operand,
/// two numbers in each, and what it is made of: its bytes, of which four lanes have four words for each 64 bytes of a row, and `numbers`
/// scales and zero points of each row.
std::int64_t widened_registers(std::int64_t rows, std::int64_t k, int bits, std::int64_t numbers, std::int64_t threads);
/// The same of an operand of a product.
std::int64_t widened_registers(const tile::TileProgram&, const WidenedOperand&, std::int64_t threads);

/// The least K that the four lanes of a column take at a time, eight elements each.
inline constexpr std::int64_t widened_chunk = 32;

/// Returns how many runs of eight elements a lane takes at a time, 1, 2 or 4: as many as the warps' part of K and the runs
/// with one scale and one zero point have (block/multiply_widened.hpp).
int widened_words(const WidenedOperand&, const MatmulChoice&);

/// Returns operand A of the matmul `node` if a product by wgmma may widen it in registers (block/widened_rows.hpp): the matmul
/// alone reads it, its K is 64 or 128, and runs of K with one scale have 16 elements at least.
std::optional<WidenedOperand> widened_rows(const tile::TileProgram&, int node);

/// Returns the operand of the matmul `node` that its step widens in registers, if there is one. By wgmma it is that of
/// widened_rows(), by m16n8k16 operand B: its warps divide K into whole chunks of 32, and it alone reads the operand.
std::optional<WidenedOperand> widened_operand(const tile::TileProgram&, int node, const MatmulChoice&);

/// Returns the operand that a work leaves in registers for a product by wgmma, if it is a part of what widens it.
std::optional<WidenedOperand> widened_by(const Kernel&, const Work&);

}  // namespace zellige::kernel
