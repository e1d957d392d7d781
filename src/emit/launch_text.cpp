#include "emit/launch_text.hpp"

#include <algorithm>

#include "emit/kernel_text.hpp"
#include "emit/same_text.hpp"

namespace zellige::emit {

std::string LaunchText::add(const kernel::LaunchGroup& l) {
  const kernel::Kernel& first = plan_.kernels[l.first];
  const std::string& name = first.program.name;
  Text text;
  if (l.count() == 1) {
    KernelText(first, plan_.program, names_, text).emit();
    return once(text.str(), name, true);
  }
  std::vector<Program> programs;
  std::int64_t blocks = 0, shared = 0;
  for (std::size_t k = l.first; k < l.last; ++k) {
    const kernel::Kernel& kernel = plan_.kernels[k];
    const std::string part = Names::part(kernel.program.name);
    Text function;
    KernelText(kernel, plan_.program, names_, function).emit_part(part);
    programs.push_back({&kernel, once(function.str(), part, false), blocks, blocks + kernel.program.grid.count()});
    blocks = programs.back().end, shared = std::max(shared, kernel.shared_bytes);
  }
  std::string list;
  for (const Parameter& p : parameters(std::span(&first, l.count())))
    list += (list.empty() ? "" : ", ") + pointer_text(p, plan_.program, names_);
  text.line("// Grid {} x 1 x 1, {} bytes of shared memory, {} programs: each block runs one.", blocks, shared,
            l.count());
  text.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", first.threads, name, list);
  text.line("const int b = blockIdx.x;");
  choose(programs, text);
  text.close();
  return once(text.str(), name, true);
}

std::string LaunchText::once(const std::string& text, const std::string& name, bool is_kernel) {
  const auto [same, is_new] = functions_.try_emplace(unnamed(text, name), name);
  if (is_new) text_.line(""), text_.raw(text), kernels_ += is_kernel;
  return same->second;
}

/// Emits the if-statements by which each block of a launch finds, from its block index, the one of `programs` that
/// it runs. They are a binary search, since there may be dozens of programs.
void LaunchText::choose(std::span<const Program> programs, Text& text) const {
  constexpr std::size_t few = 4;
  while (programs.size() > 1) {
    const std::size_t half = programs.size() > few ? programs.size() / 2 : 1;
    text.open("if (b < {}) {{", programs[half - 1].end);
    choose(programs.first(half), text);
    text.close();
    programs = programs.subspan(half);
  }
  const Program& p = programs[0];
  std::string list;
  for (const Parameter& parameter : parameters(*p.plan))
    list += names_.pointer(plan_.program.tensors[parameter.tensor].name) + ", ";
  text.line("return {}({}{}, {});", p.function, list, (Index::named("b") - p.begin).str(), p.plan->program.part_begin);
}

}  // namespace zellige::emit
