// The instructions of the atom room that a target has, in the order of the tables.
#pragma once
#include <string_view>
#include <vector>
#include <zellige/atom/instruction.hpp>

#include "target/target.hpp"

namespace zellige::target {

/// Rows that live as long as the program. What only its own architecture has (sm_90a's) is not of a later
/// one.
const std::vector<const Instruction*>& instructions_of(const Target&);

/// The target's instruction of that name; nullptr where it has none.
const Instruction* find_instruction(const Target&, std::string_view name);

}  // namespace zellige::target
