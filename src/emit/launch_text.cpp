#include "emit/launch_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <span>

#include "emit/kernel_text.hpp"
#include "emit/parameters.hpp"
#include "kernel/launches.hpp"

namespace zellige::emit {
namespace {

/// A tile program of a launch, the call of its device function up to the block's number, and its blocks [begin, end) in
/// the launch.
struct LaunchedProgram {
  const tile::TileProgram* program;
  std::string call;
  std::int64_t begin, end;
};

/// Emits the if-statements by which each block of a launch finds, from its block index, the one of `programs` that
/// it runs. They are a binary search, since there may be dozens of programs.
void choose(std::span<const LaunchedProgram> programs, Text& text) {
  constexpr std::size_t few = 4;
  while (programs.size() > 1) {
    const std::size_t half = programs.size() > few ? programs.size() / 2 : 1;
    text.open("if (b < {}) {{", programs[half - 1].end);
    choose(programs.first(half), text);
    text.close();
    programs = programs.subspan(half);
  }
  const LaunchedProgram& p = programs[0];
  text.line("return {}{}, {});", p.call, (Index::named("b") - p.begin).str(), p.program->part_begin);
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the position after the closing quotation mark of the string literal that begins at `at`.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Emits functions, each once.
class FunctionTexts {
 public:
  explicit FunctionTexts(KernelSources& to) : to_(to) {}

  /// Adds the kernels of a plan, which is the next one.
  void add(const plan::Plan& plan) {
    Names names;
    std::vector<std::string>& all = to_.names.emplace_back();
    for (const kernel::LaunchGroup& l : kernel::launches(plan.kernels)) {
      const std::span<const kernel::Kernel> kernels(&plan.kernels[l.first], l.count());
      Text text;
      if (l.count() == 1)
        write_kernel(KernelText(kernels[0], plan.program, names, text));
      else
        joined(kernels, plan.program, names, text);
      const auto [kernel, is_new] = once(text, kernels[0].name());
      all.push_back(kernel), to_.kernels += is_new;
    }
  }

 private:
  /// Adds a function, unless one with the same source (except for names) is there. Returns the name of the one to call.
  std::pair<std::string, bool> once(const Text& text, const std::string& name) {
    const auto [same, is_new] = functions_.try_emplace(unnamed(text.str(), name), name);
    if (is_new) to_.text += "\n" + text.str();
    return {same->second, is_new};
  }

  /// Emits the kernel of a launch of several tile programs, after their device functions.
  void joined(std::span<const kernel::Kernel> kernels, const tile::TilePrograms& program, Names& names, Text& text) {
    std::vector<LaunchedProgram> programs;
    std::int64_t blocks = 0, shared = 0;
    for (const kernel::Kernel& kernel : kernels) {
      const std::string part = Names::part(kernel.name());
      Text function;
      write_kernel(KernelText(kernel, program, names, function, part));
      std::string call = once(function, part).first + "(";
      for (const Parameter& p : parameters(kernel, program)) call += parameter_name(p, program, names) + ", ";
      programs.push_back({&kernel.program, std::move(call), blocks, blocks + kernel.program.grid.count()});
      blocks = programs.back().end, shared = std::max(shared, kernel.shared_bytes);
    }
    std::string list;
    for (const Parameter& p : parameters(kernels, program))
      list += (list.empty() ? "" : ", ") + parameter_text(p, program, names);
    text.line("// Grid {} x 1 x 1, {} bytes of shared memory, {} programs: each block runs one.", blocks, shared,
              kernels.size());
    text.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", kernels[0].threads, kernels[0].name(),
              list);
    text.line("const int b = blockIdx.x;");
    choose(programs, text);
    text.close();
  }

  KernelSources& to_;
  std::map<std::string, std::string> functions_;  // by their source without names
};

}  // namespace

KernelSources kernel_sources(std::span<const plan::Plan* const> plans) {
  KernelSources all;
  FunctionTexts texts(all);
  for (const plan::Plan* plan : plans) texts.add(*plan);
  return all;
}

std::string unnamed(std::string_view kernel, std::string_view function) {
  std::string result;
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t at = 0; at < kernel.size();) {
    std::size_t end = at + 1;
    if (kernel.substr(at, 2) == "//") {
      at = std::min(kernel.find('\n', at), kernel.size());
      continue;
    }
    if (kernel[at] == '"') {
      end = end_of_literal(kernel, at);
      // shared_tile<...>("x", ...), and of a ring {"x", "w"}
      const bool of_a_tile = result.ends_with(">(") || result.ends_with('{') || result.ends_with("\"\", ");
      result += of_a_tile ? "\"\"" : kernel.substr(at, end - at);
    } else if (in_word(kernel[at])) {
      while (end < kernel.size() && in_word(kernel[end])) ++end;
      const std::string_view word = kernel.substr(at, end - at);
      if (word == function)
        result += "$";
      else if (Names::is_formed(word))
        result += fmt::format("${}", numbers.try_emplace(word, numbers.size()).first->second);
      else
        result += word;
    } else {
      result += kernel[at];
    }
    at = end;
  }
  return result;
}

}  // namespace zellige::emit
