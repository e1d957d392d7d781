#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "plan/lower.hpp"

namespace zellige::plan {

int lower_operator(BlockProgram& program, OpKind kind, const graph::Attributes& a,
                   const std::vector<int>& operands, Section section) {
  std::vector<Shape> shapes;
  for (int i : operands) shapes.push_back(program.nodes[i].shape);
  if (graph::is_composed(kind)) {
    std::vector<int> values = operands;
    for (const graph::Step& step : graph::compose(kind, a, shapes)) {
      std::vector<int> in;
      for (int i : step.inputs) in.push_back(values[static_cast<std::size_t>(i)]);
      values.push_back(lower_operator(program, step.kind, step.attributes, in, section));
    }
    return values.back();
  }
  graph::Attributes kept = a;
  kept.keepdim = true;
  Node n;
  n.in = operands;
  n.shape = graph::infer_shapes({program.name}, kind, kept, shapes).at(0);
  n.section = section;
  if (graph::is_elementwise(kind)) {
    n.kind = NodeKind::map, n.op = kind;
    n.scalar = a.scalar, n.lo = a.lo, n.hi = a.hi;
  } else if (kind == OpKind::reduction || kind == OpKind::amax) {
    n.kind = NodeKind::reduce, n.op = kind == OpKind::amax ? OpKind::reduction_max : kind;
    n.dim = a.dim, n.to = n.shape[a.dim];
  } else {
    fail("{}: {} has no lowering", program.name, graph::name(kind));
  }
  return program.add(std::move(n));
}

}  // namespace zellige::plan
