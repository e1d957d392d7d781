// Finds instruction descriptors (include/zellige/atom: PTX, layouts, completion) that a target has.
//
//   const Instruction* mma = find_mma(target::find("sm_80"), "f16", "f16", "f32");   // m16n8k16
#pragma once
#include <string_view>
#include <vector>
#include <zellige/atom/instruction.hpp>

#include "graph/dtype.hpp"
#include "target/target.hpp"

namespace zellige::target {

/// Returns all descriptors that the target has, with static lifetime: those of zellige::instructions(), of
/// sm80_sync.hpp, of unpacked_products() and of tensor_memory_products(). Instructions that only one architecture has (sm_90a's wgmma) are omitted for
/// later architectures.
const std::vector<const Instruction*>& instructions_of(const Target&);

/// Returns the instruction with this name, or nullptr if the target has no such instruction.
const Instruction* find_instruction(const Target&, std::string_view name);

/// Returns PTX's name of the type as which a matmul multiplies operands of this dtype. `tf32`: its operands are rounded
/// to tf32 (the attribute of that name).
std::string_view multiplied_as(graph::DType, bool tf32);

/// Returns the matrix instruction of one warp (mma.sync) for operands of types a and b and accumulators of type d,
/// which are PTX's names. If there are several, returns the one with the largest K, of these the one of the latest
/// architecture. Returns nullptr if there is none.
const Instruction* find_mma(const Target&, std::string_view a, std::string_view b, std::string_view d);

/// Returns the instruction of one warp whose accumulators are single tiles: two tiles side by side are no unit, as K is no
/// wider than a tile. Its operands are halves, as those of Fragment's default instruction (block/fragment.hpp), whose tiles
/// are pairs. Every target with asynchronous products has it.
const Instruction& single_tile_mma();

/// Returns whether kernels multiply a last step over K, of at most half the instruction's, by the same instruction of one warp
/// with half the K: mma_row (atom/mma.hpp) names it, and last_step_row (block/multiply.hpp) takes it.
bool has_half_step(const Instruction&);

/// Returns the warpgroup instruction (wgmma, or a product in tensor memory) with exactly `n` columns, for operands of types a and b and accumulators
/// of type d. The operands are in shared memory and may be contiguous along K, or along M (A) and N (B). With
/// `a_in_registers`, A is in registers. With `cut` the instruction may keep fewer bits of accumulators than float32 has, as wgmma does
/// of 8-bit floats, and may multiply lines of K alone. Returns nullptr if the target has no such instruction.
const Instruction* find_warpgroup_mma(const Target&, std::string_view a, std::string_view b, std::string_view d,
                                      std::int64_t n, bool a_in_registers = false, bool cut = false);

/// Returns the ldmatrix instruction that loads the most 8x8 matrices at once from shared memory, or nullptr
/// if the target has none.
const Instruction* find_matrix_load(const Target&);

/// Returns the instructions by which a warp stores 8x8 matrices from registers to shared memory (stmatrix), those of the
/// most matrices first; none before sm_90.
std::vector<const Instruction*> matrix_stores(const Target&);

/// Returns the asynchronous copies from global to shared memory that each thread issues and that complete
/// by group (cp.async), the widest first. All of them zero-fill bytes beyond the source's size.
std::vector<const Instruction*> async_copies(const Target&);

/// Returns whether the target has products that warpgroups only start: wgmma, or products in tensor memory.
bool has_warpgroup_mma(const Target&);
/// Returns the TMA instruction that copies a box with `dimensions` dimensions from space `from` to `to`, without a cache
/// hint or a reduction; nullptr if the target has none. A load into Space::dsmem is a multicast, into the shared memory of
/// several blocks of a cluster.
const Instruction* find_tma(const Target&, Instruction::Space from, Instruction::Space to, std::size_t dimensions);

/// Returns whether the target has programmatic dependent launch: a kernel may start while the preceding one
/// still runs, and itself waits for the end of that kernel.
bool has_programmatic_launch(const Target&);

}  // namespace zellige::target
