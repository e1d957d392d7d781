#include "plan/lower.hpp"

#include <cctype>

namespace zellige::plan {
namespace {

std::string identifier(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) result += c;
    else if (!result.empty() && result.back() != '_') result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "g_" + result;
  return result;
}

}  // namespace

Program lower(const graph::KernelGraph& graph, const target::Target& target) {
  Program program;
  program.name = identifier(graph.name);
  program.tensors = graph.tensors;
  program.inputs = graph.inputs;
  program.outputs = graph.outputs;
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    auto& t = program.tensors[i];
    t.name = t.name.empty() ? fmt::format("t{}", i) : identifier(t.name);
    for (std::size_t j = 0; j < i; ++j)
      if (program.tensors[j].name == t.name) t.name += fmt::format("_{}", i);
  }
  for (const graph::KernelOp& op : graph.ops) {
    const std::string name = fmt::format("{}_k{}", program.name, program.kernels.size());
    if (op.kind == OpKind::custom) {
      program.kernels.push_back(lower_block(graph, op, name, target));
    } else {
      for (BlockProgram& kernel : lower_kernel(graph, op, name, target)) program.kernels.push_back(std::move(kernel));
    }
  }
  // A graph tensor's name stands in the emitted text: keep it one C identifier there.
  for (BlockProgram& kernel : program.kernels)
    for (Node& n : kernel.nodes) n.name = n.name.empty() ? "" : identifier(n.name);
  return program;
}

}  // namespace zellige::plan
