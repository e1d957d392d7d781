#include "tile/program.hpp"

namespace zellige::plan {

std::string_view name(NodeKind kind) {
  static constexpr std::string_view names[] = {
      "load",         "map",   "round",  "matmul", "reduce",  "accumulate", "running_max",
      "running_diff", "slice", "concat", "rotate", "permute", "store"};
  static_assert(std::size(names) == std::size_t(NodeKind::store) + 1);
  return kind <= NodeKind::store ? names[std::size_t(kind)] : "?";
}

std::string_view name(Section section) {
  return section == Section::before ? "before" : section == Section::inside ? "inside" : "after";
}

std::vector<int> TileProgram::consumers(int node) const {
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
    for (int in : nodes[i].in)
      if (in == node) {
        result.push_back(i);
        break;
      }
  return result;
}

std::vector<bool> TileProgram::needed() const {
  std::vector<bool> result(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    result[i] = result[i] || nodes[i].kind == NodeKind::store;
    if (result[i])
      for (int in : nodes[i].in) result[static_cast<std::size_t>(in)] = true;
  }
  return result;
}

Node Program::access(NodeKind kind, int tensor, View view, Section section) const {
  Node n;
  n.kind = kind, n.section = section, n.tensor = tensor;
  n.dtype = tensors[tensor].dtype, n.name = tensors[tensor].name;
  for (int d = 0; d < view.rank(); ++d) n.shape.push_back(view.tile(d));
  n.view = std::move(view);
  return n;
}

std::string print(const TileProgram& program, const Program& whole) {
  std::string out = fmt::format("{}: grid {}x{}x{}, {} threads, loop {}{}\n", program.name, program.grid.x,
                                program.grid.y, program.grid.z, program.threads(), program.loop,
                                program.same_launch ? ", in the launch of the program before it" : "");
  for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
    const Node& n = program.nodes[i];
    std::string what(name(n.kind));
    if (n.kind == NodeKind::map || n.kind == NodeKind::accumulate)
      what = fmt::format("{} {}", what, name(n.op));
    if (n.kind == NodeKind::reduce)
      what = fmt::format("{} {} of dimension {} to {}", n.carried ? "carried reduce" : "reduce",
                         n.op == OpKind::reduction_max ? "max" : "sum", n.dim, n.to);
    if (n.kind == NodeKind::matmul && n.carried) what = "carried matmul";
    if (n.window) what += " of a part of";
    std::string in;
    for (int k : n.in) in += fmt::format(" %{}", k);
    if (accesses(n)) in += " " + whole.tensors[n.tensor].name;
    out += fmt::format("  %{} = {}{} : {}{} [{}]\n", i, what, in, graph::name(n.dtype), to_string(n.shape),
                       name(n.section));
  }
  return out;
}

}  // namespace zellige::plan
