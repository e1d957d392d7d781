// Descriptors of matmuls that are no single instruction of the hardware, but functions of Zellige's headers.
//
// Products in tensor memory (block/tensor_memory.hpp) are tcgen05.mma, and the load of the accumulators into registers after
// the loop. A descriptor has the shape, operands and layouts of the wgmma with the same tiles: what one warpgroup does of them.
//
// Outer products multiply float32 by FMA instructions (SIMT, without tensor cores). A descriptor says how many rows and
// columns a warp computes, how the rows and columns are divided among the warp's threads, and for how many cycles one step
// along K occupies one of a multiprocessor's four partitions. It represents a function template of block/multiply_outer.hpp.
// Every target has all of them.
//
//   outer_products()[0]   // OuterProduct<4, 4, 4, 8>: 4 x 8 lanes with 4 x 4 accumulators each; m 16, n 32, k 4
//
// Unpacked products multiply 8-bit floats that are unpacked to halves in registers (atom/mma_unpacked.hpp). The tensor cores
// of sm_90 multiply 8-bit floats by wgmma only, those of sm_100 and sm_103 by tcgen05.mma. Their mma.sync of them is several
// instructions, which are slower than these. A descriptor has the shape and the layouts of that mma.sync.
//
//   find_mma(target::find("sm_90a"), "e4m3", "e4m3", "f32")->name   // Unpacked<float_e4m3_t>; on sm_89 m16n8k32 itself
#pragma once
#include <cstdint>
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Returns the descriptors of all outer-product matmuls (float32 by FMA instructions, without tensor cores):
/// first those for large M, then those for small M.
std::span<const Instruction> outer_products();

/// Return how many consecutive rows, or columns, of a warp's tile one thread accumulates. Require a descriptor of
/// outer_products().
int thread_rows(const Instruction&);
int thread_columns(const Instruction&);

/// Returns the descriptors of all matmuls of unpacked 8-bit floats, of each architecture that has them.
std::span<const Instruction> unpacked_products();

/// Returns the descriptors of all products in tensor memory.
std::span<const Instruction> tensor_memory_products();
/// Returns whether `row` is one of these.
bool in_tensor_memory(const Instruction& row);
/// Returns whether an asynchronous product takes only operands that are contiguous along K, as those of 8-bit floats do.
bool only_along_k(const Instruction& row);
/// The columns of tensor memory that a multiprocessor has.
inline constexpr std::int64_t tensor_memory_columns = 512;

/// Returns how many matrix instructions a warp executes for one step of `row`: 2 for a row of unpacked_products(), else 1.
int instructions_in(const Instruction& row);

}  // namespace zellige::target
