// Emits the kernels of a program. A launch of one tile program is one kernel. A launch of several block
// programs is a kernel in which each block calls the device function of its program.
//
// Functions that differ only in names are emitted once: layers of a model repeat, and NVRTC takes seconds per function. If
// each tile program of a launch writes one operand of a concatenation, the operand's offset in the result is an argument of
// the function. So a concatenation of N operands of one shape is one function and N calls.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::emit {

/// The functions of the launches of some plans, which are one program.
struct KernelSources {
  std::string text;
  std::vector<std::vector<std::string>>
      names;                // by plan and launch: the kernel to launch, which may be that of an earlier one
  std::size_t kernels = 0;  // that are different
};
KernelSources kernel_sources(std::span<const plan::Plan* const>);

/// Returns a kernel's source in a form that is equal for kernels that differ only in names:
///
/// - without comments;
/// - its own name `function` replaced by a fixed word;
/// - user-defined names (in the form of names.hpp) replaced by numbers in order of appearance;
/// - names of shared tiles in string literals removed.
std::string unnamed(std::string_view kernel, std::string_view function);

}  // namespace zellige::emit
