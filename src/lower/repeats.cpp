#include "lower/repeats.hpp"

#include <algorithm>

#include "lower/views.hpp"

namespace zellige::lower {
namespace {

/// Returns d if a reshape from `operand` to `result` merges dimensions d and d + 1 and changes nothing else,
/// or -1 if it is another reshape.
int merged(const graph::Shape& operand, const graph::Shape& result) {
  if (result.empty() || operand.size() != result.size() + 1) return -1;
  const auto at = std::ranges::mismatch(operand, result).in1 - operand.begin();
  const auto d = std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(result.size()) - 1);
  const bool same = std::equal(operand.begin() + d + 2, operand.end(), result.begin() + d + 1, result.end());
  return same && operand[d] * operand[d + 1] == result[d] ? static_cast<int>(d) : -1;
}

/// Returns whether each tile of custom operator `op` has, along dimension `dim` of its operand `tensor`, one index or whole
/// runs of `times` indices, which may be so along the last dimension. Grid axes divide the dimension among blocks, or the
/// loop does, not both. Returns false if `op` is no custom operator.
bool takes_runs(const graph::KernelOp& op, int tensor, int dim, std::int64_t extent, std::int64_t times) {
  if (!op.block) return false;
  return std::ranges::all_of(op.block->ops, [&](const graph::BlockOp& o) {
    if (o.kind != graph::OpKind::input || op.inputs[o.kernel_tensor] != tensor) return true;
    std::int64_t blocks = 1;
    for (int axis = 0; axis < 3; ++axis)
      if (o.map[axis] == dim) blocks *= op.block->grid[axis];
    const bool last = dim + 1 == static_cast<int>(op.block->tensors[o.outputs[0]].shape.size());
    if (o.loop_dim != dim) return blocks == extent || (last && extent / blocks % times == 0);
    return last && blocks == 1 && extent / op.block->loop % times == 0;
  });
}

}  // namespace

bool see_repeated(tile::TilePrograms& program, const graph::KernelGraph& graph, const graph::KernelOp& reshape) {
  if (reshape.kind != graph::OpKind::reshape) return false;
  const int from = reshape.inputs[0], to = reshape.outputs[0];
  const graph::Shape operand = program.shape(from), result = program.tensors[to].shape;
  const int d = merged(operand, result);
  if (d < 0 || program.windows(from) || program.views.count(from) == 0 || program.views.count(to) > 0) return false;
  graph::Strides strides = program.tensors[from].strides;
  graph::Shape starts = program.starts(from), narrow = result;
  if (strides.empty() || strides[d + 1] != 0 || operand[d + 1] < 2 || starts[d + 1] != 0) return false;
  if (!program.tensors[to].strides.empty() || std::ranges::count(graph.outputs, to) > 0) return false;
  for (const graph::KernelOp& op : graph.ops)
    if (std::ranges::count(op.inputs, to) > 0 && !takes_runs(op, to, d, result[d], operand[d + 1])) return false;
  strides.erase(strides.begin() + d + 1), starts.erase(starts.begin() + d + 1);
  narrow[d] = operand[d];
  make_view(program, to, from, narrow, strides, starts);
  program.views.at(to).shape = result;
  return true;
}

graph::Shape repeats(const tile::TilePrograms& program, int tensor) {
  const graph::Shape seen = program.shape(tensor), starts = program.starts(tensor);
  graph::Shape times(seen.size(), 1);
  if (program.views.count(tensor) > 0)
    for (std::size_t d = 0; d < seen.size(); ++d)
      times[d] = std::max<std::int64_t>(1, seen[d] / (program.tensors[tensor].shape[d] - starts[d]));
  return times;
}

int repeated(tile::TilePrograms& program, int tensor) {
  const graph::Shape times = repeats(program, tensor);
  if (std::ranges::count(times, 1) == static_cast<std::ptrdiff_t>(times.size())) return tensor;
  graph::Shape narrow = program.shape(tensor);
  for (std::size_t d = 0; d < narrow.size(); ++d) narrow[d] /= times[d];
  const graph::Strides strides = program.tensors[tensor].strides;  // a copy: the tensors are reallocated
  return view_of(program, tensor, narrow, strides, program.starts(tensor));
}

tile::Cut of_repeated(tile::Cut s, std::int64_t times) {
  if (times == 1) return s;
  s.extent /= times;
  if (s.tile % times == 0) {  // whole runs
    s.tile /= times;
    return s;
  }
  if (s.extent == 1) {
    s.axis = -1, s.div = 1, s.mod = 0;
  } else {
    s.div *= times, s.mod /= times;
  }
  return s;
}

}  // namespace zellige::lower
