// The instruction descriptors of include/zellige/atom that a target has, in the order of the tables.
#pragma once
#include <string_view>
#include <vector>
#include <zellige/atom/instruction.hpp>

#include "target/target.hpp"

namespace zellige::target {

/// Returns descriptors with static lifetime: those of instructions(), then those of sm80_sync.hpp.
/// Architecture-specific instructions (sm_90a's) are excluded for later architectures.
const std::vector<const Instruction*>& instructions_of(const Target&);

/// The target's instruction of that name; nullptr if it has none.
const Instruction* find_instruction(const Target&, std::string_view name);

/// The MMA of one warp on register operands a and b with accumulators of type d (PTX's names); if there are
/// several, the one with the largest K, for fewer instructions. nullptr if the target has none.
const Instruction* find_mma(const Target&, std::string_view a, std::string_view b, std::string_view d);

/// The warpgroup MMA with exactly `n` columns: both operands in shared memory with either major, or the first
/// in registers. nullptr if the target has none.
const Instruction* find_warpgroup_mma(const Target&, std::string_view a, std::string_view b,
                                      std::string_view d, std::int64_t n, bool a_in_registers = false);

/// The instruction that loads the most matrices at once from shared memory into a warp's registers; nullptr
/// if there is none.
const Instruction* find_matrix_load(const Target&);

/// Per-thread asynchronous copies from global to shared memory that complete by group and zero-fill beyond
/// the source's size; the widest first.
std::vector<const Instruction*> async_copies(const Target&);

/// TMA's load of boxes of that many dimensions, its multicast load, and its store; nullptr if the target has
/// none.
const Instruction* find_tensor_load(const Target&, int dimensions);
const Instruction* find_tensor_multicast(const Target&, int dimensions);
const Instruction* find_tensor_store(const Target&, int dimensions);

/// Returns whether a kernel may be launched while the previous one still runs and wait for its end itself
/// (programmatic dependent launch).
bool has_programmatic_launch(const Target&);

}  // namespace zellige::target
