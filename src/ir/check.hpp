// Checks of a program's source beyond its grammar, and where a message about a plan belongs.
#pragma once
#include "ir/sections.hpp"

namespace zellige::ir {

/// Throws Mistake unless the parts of each kernel fit together, as the proof takes for granted: ranks, operands, and what is
/// decided of each matmul, load and store.
void check(const File&, const std::string& file);

/// Throws Mistake unless the kernels say what the emitter needs and no proof does: what each step does with which value, and
/// the registers of a thread.
void check_complete(const File&, const std::string& file);

/// Returns where the source says what the message of the verifier is about: the step, value or tensor that it names
/// first; the kernel if it names none.
Position position(const kernel::Kernel&, const KernelPositions&, std::string_view message);

}  // namespace zellige::ir
