// Emits the kernels of a launch: one program is one kernel; several are device functions, and a kernel in
// which each block calls one of them.
//
//   LaunchText code(plan, names);
//   for (const plan::Launch& l : plan::launches(plan.kernels)) name = code.add(l);   // of the kernel to launch
//   code.str()                                                                       // all of them
//
// Programs and kernels that differ only in names (same_text.hpp) are emitted once. The offset of a program's
// part of a concatenation is an argument, so that N operands of one shape are one function and N calls.
#pragma once
#include <map>
#include <span>
#include <string>

#include "emit/names.hpp"
#include "emit/source_lines.hpp"
#include "plan/launches.hpp"
#include "plan/plan.hpp"

namespace zellige::emit {

class LaunchText {
 public:
  LaunchText(const plan::Plan& plan, Names& names) : plan_(plan), names_(names) {}

  std::string add(const plan::Launch&);
  const std::string& str() const { return text_.str(); }
  /// Number of emitted kernels.
  std::size_t count() const { return kernels_; }

 private:
  struct Program {
    const plan::KernelPlan* plan;
    std::string function;
    std::int64_t begin, end;  // blocks
  };
  std::string once(const std::string& text, const std::string& name, bool is_kernel);
  std::string part(const plan::KernelPlan&);
  void call(const Program&, Text&) const;
  void choose(std::span<const Program>, Text&) const;

  const plan::Plan& plan_;
  Names& names_;
  Text text_;
  std::size_t kernels_ = 0;
  std::map<std::string, std::string> functions_;  // by their source without names
};

}  // namespace zellige::emit
