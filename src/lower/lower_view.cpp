#include <algorithm>

#include "graph/view.hpp"
#include "lower/lower.hpp"
#include "lower/views.hpp"
#include "selection/layouts.hpp"

namespace zellige::lower {
std::vector<tile::TileProgram> lower_view(tile::TilePrograms& program, const graph::KernelOp& op,
                                          const std::string& name, const target::Target& target) {
  const int from = op.inputs[0], to = op.outputs[0];
  if (program.memory_of(from) == to) return {};  // the operand was computed in the result's memory
  const graph::Shape shape = program.tensors[to].shape, operand = program.shape(from);
  const std::string label = program.tensors[to].name;
  const graph::KernelTensor& t = program.tensors[from];
  const graph::Strides padded = selection::padded_strides(t.shape, static_cast<int>(t.shape.size()) - 1,
                                                          graph::elements_in(target.access_bytes, t.dtype));
  // A reshape may be a view only if its operand has no padding between rows.
  const bool dense = op.kind == graph::OpKind::reshape && t.strides.empty() &&
                     !graph::viewed(op.kind, op.attributes, t.shape, padded, shape);
  settle_strides(program, from, dense, target);
  auto seen =
      graph::viewed(op.kind, op.attributes, operand, program.tensors[from].strides, shape, program.starts(from));
  // Whether the result has prescribed strides. It then needs memory of its own, as outputs of the program do.
  const bool declared = !program.tensors[to].strides.empty();
  const bool own = declared || std::ranges::count(program.outputs, to) > 0;
  std::vector<tile::TileProgram> kernels;
  int base = from;
  if (!seen) {
    program.notes.push_back(fmt::format("{}: the {} of {} {} to {} is no layout of its memory: it is copied", label,
                                        graph::name(op.kind), program.tensors[from].name, graph::to_string(operand),
                                        graph::to_string(shape)));
    if (op.kind == graph::OpKind::reshape && !declared && own) {  // one copy, into a view of the result
      settle_strides(program, to, true, target);
      const int view =
          new_view(program, to, operand, graph::row_major(operand), graph::Shape(operand.size(), 0), label + "_view");
      return {lower_copy(program, from, view, name, target)};
    }
    base = add_tensor(program, program.tensors[from].dtype, operand, graph::row_major(operand), label + "_dense");
    kernels.push_back(lower_copy(program, from, base, name, target));
    seen = graph::viewed(op.kind, op.attributes, operand, graph::row_major(operand), shape);
  }
  if (own) {
    const int view = new_view(program, base, shape, seen->steps, seen->starts, label + "_view");
    kernels.push_back(lower_copy(program, view, to, kernels.empty() ? name : name + "_1", target));
  } else {
    make_view(program, to, base, shape, seen->steps, seen->starts);
  }
  return kernels;
}

}  // namespace zellige::lower
