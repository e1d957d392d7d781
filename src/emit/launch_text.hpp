// Emits the kernels of a program. A launch of one tile program is one kernel. A launch of several block
// programs is a kernel in which each block calls the device function of its program.
//
//   LaunchText code(plan, names);
//   for (const kernel::LaunchGroup& l : kernel::launches(plan.kernels)) name = code.add(l);   // name of the kernel to launch
//   code.str()                                                                       // the source of all kernels
//
// Functions that differ only in names (same_text.hpp) are emitted once. If each tile program of a launch writes one
// operand of a concatenation, the operand's offset in the result is an argument of the function. So a concatenation of
// N operands of one shape is one function and N calls.
#pragma once
#include <map>
#include <span>
#include <string>

#include "emit/names.hpp"
#include "emit/source_lines.hpp"
#include "kernel/launches.hpp"
#include "plan/plan.hpp"

namespace zellige::emit {

/// Collects the functions of a plan's launches.
class LaunchText {
 public:
  LaunchText(const plan::Plan& plan, Names& names) : plan_(plan), names_(names) {}

  /// Emits the functions of a launch that are not emitted yet. Returns the name of the kernel to launch,
  /// which may be an earlier, equal kernel.
  std::string add(const kernel::LaunchGroup&);
  const std::string& str() const { return text_.str(); }
  /// Returns the number of emitted kernels.
  std::size_t count() const { return kernels_; }

 private:
  /// A tile program of a launch, its device function, and its blocks [begin, end) in the launch.
  struct Program {
    const kernel::Kernel* plan;
    std::string function;
    std::int64_t begin, end;  // blocks
  };
  /// Appends `text`, the source of the function `name`, unless a function with the same source (except for names) has
  /// been emitted. Returns the name of the function to call. `is_kernel`: it is a __global__ function.
  std::string once(const std::string& text, const std::string& name, bool is_kernel);
  void choose(std::span<const Program>, Text&) const;

  const plan::Plan& plan_;
  Names& names_;
  Text text_;
  std::size_t kernels_ = 0;
  std::map<std::string, std::string> functions_;  // by their source without names
};

}  // namespace zellige::emit
