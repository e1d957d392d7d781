// The instructions of the atom room that a target has, in the order of the tables.
#pragma once
#include <string_view>
#include <vector>
#include <zellige/atom/instruction.hpp>

#include "target/target.hpp"

namespace zellige::target {

/// Rows that live as long as the program: those of instructions(), then those of sm80_sync.hpp. What only its own architecture has (sm_90a's) is not of a later
/// one.
const std::vector<const Instruction*>& instructions_of(const Target&);

/// The target's instruction of that name; nullptr where it has none.
const Instruction* find_instruction(const Target&, std::string_view name);

/// The product that a warp issues on a and b with sums of type d (PTX's names), from registers; of several the one
/// with most K, for fewer instructions. nullptr where the target has none.
const Instruction* find_mma(const Target&, std::string_view a, std::string_view b, std::string_view d);

/// The same product issued by a warpgroup, of exactly `n` columns, both operands in shared memory and running either way, or the first
/// in registers; nullptr where the target has none.
const Instruction* find_warpgroup_mma(const Target&, std::string_view a, std::string_view b,
                                      std::string_view d, std::int64_t n, bool a_in_registers = false);

/// What moves most rows of operands at once from shared memory into a warp's registers; nullptr where nothing does.
const Instruction* find_matrix_load(const Target&);

/// Copies by one thread from global into shared memory that land with their group and write zeros where the source
/// ends; the widest first.
std::vector<const Instruction*> async_copies(const Target&);

/// TMA's plain load of boxes of so many dimensions, its load into several blocks, and its store; nullptr where the target has none.
const Instruction* find_tensor_load(const Target&, int dimensions);
const Instruction* find_tensor_multicast(const Target&, int dimensions);
const Instruction* find_tensor_store(const Target&, int dimensions);

/// Whether a kernel may be launched while the one before it still runs, and wait for its end by itself.
bool has_programmatic_launch(const Target&);

}  // namespace zellige::target
