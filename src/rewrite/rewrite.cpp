#include "rewrite/rewrite.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "graph/infer.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {

Known::Known(const KernelGraph& g) : graph(g), producer(g.tensors.size()), readers(g.tensors.size()) {
  for (const KernelOp& op : g.ops) {
    for (const int t : op.inputs) ++readers[t];
    for (const int t : op.outputs) producer[t] = &op;
  }
  for (const int t : g.outputs) ++readers[t];
}
const KernelOp* Known::made_by(int tensor, OpKind kind, std::size_t operands) const {
  const KernelOp* op = checked(producer, tensor, "tensor");
  return op && op->kind == kind && (operands == any || op->inputs.size() == operands) ? op : nullptr;
}
const KernelOp* Known::inner(int tensor, OpKind kind, std::size_t operands) const {
  return readers[tensor] == 1 ? made_by(tensor, kind, operands) : nullptr;
}

bool Known::is_unrounded(int tensor) const {
  if (readers[tensor] == 1 || !graph::is_narrow(dtype(tensor))) return true;
  // Several operands of one operator are one reader.
  const auto reads = [&](const KernelOp& op) { return std::ranges::count(op.inputs, tensor) == readers[tensor]; };
  return std::ranges::any_of(graph.ops, reads);
}
const KernelOp* Known::unrounded(int tensor, OpKind kind, std::size_t operands) const {
  const KernelOp* op = made_by(tensor, kind, operands);
  return op && is_unrounded(tensor) ? op : nullptr;
}

Rewrite::Rewrite(const KernelGraph& g) : graph_(g) {
  for (const KernelTensor& t : g.tensors) names_.insert(t.name);
  graph_.ops.clear();
}

int Rewrite::make(KernelTensor t) {
  while (!names_.insert(t.name).second) t.name += '_';
  graph_.tensors.push_back(std::move(t));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int Rewrite::add(OpKind kind, std::vector<int> in, const Attributes& a, const std::string& name, int to) {
  if (to < 0) {
    std::vector<Shape> shapes;
    for (int t : in) shapes.push_back(shape(t));
    to = make({graph::result_dtype(kind, a, tensor(in[0]).dtype),
               graph::infer_shapes({graph_.name}, kind, a, shapes)[0],
               {},
               name});
  }
  graph_.ops.push_back({kind, std::move(in), {to}, a, nullptr});
  return to;
}

int Rewrite::step(const KernelOp& op, OpKind kind, std::vector<int> in, const Attributes& a, std::string_view suffix) {
  return add(kind, std::move(in), a, name(op.outputs[0]) + std::string(suffix));
}

bool Rewrite::replace(const KernelOp& op, OpKind kind, std::vector<int> in, const Attributes& a) {
  add(kind, std::move(in), a, "", op.outputs[0]);
  return true;
}

bool Rewrite::replace_operands(const KernelOp& op, std::vector<int> in) {
  if (in == op.inputs) return false;
  KernelOp& anew = graph_.ops.emplace_back(op);
  anew.inputs = std::move(in);
  return true;
}

KernelGraph Rewrite::finished() { return graph::infer(live(std::move(graph_))); }

std::optional<KernelGraph> each_operator(const KernelGraph& g, OfOperator& rule) {
  const Known known(g);
  Rewrite out(g);
  bool changed = false;
  for (const KernelOp& op : g.ops) {
    const bool fits = rule(known, op, out);
    if (!fits) out.keep(op);
    changed = changed || fits;
  }
  return changed ? std::optional(out.finished()) : std::nullopt;
}

std::vector<int> readers(const KernelGraph& g, int tensor) {
  std::vector<int> result;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (std::ranges::count(g.ops[i].inputs, tensor) > 0) result.push_back(static_cast<int>(i));
  return result;
}

bool same_attributes(const Attributes& a, const Attributes& b) {
  const auto numbers = [](const Attributes& of) { return std::array{of.scalar, of.lo, of.hi, of.eps, of.value}; };
  return a == b && std::ranges::equal(numbers(a), numbers(b), same_bits);
}
bool keeps_sequence(const Shape& shape, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> kept;
  std::ranges::copy_if(order, std::back_inserter(kept), [&](std::int64_t d) { return shape[d] != 1; });
  return std::ranges::is_sorted(kept);
}

std::vector<std::int64_t> exchanged(std::size_t rank) {
  std::vector<std::int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[rank - 1], dims[rank - 2]);
  return dims;
}

int operand_of(const Known& g, const KernelOp& concat, const KernelOp& slice) {
  const int dim = concat.attributes.dim;
  if (slice.attributes.dim != dim) return -1;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
    const std::int64_t end = start + g.shape(concat.inputs[i])[dim];
    if (slice.attributes.start == start && slice.attributes.end == end) return static_cast<int>(i);
    start = end;
  }
  return -1;
}

std::vector<const KernelOp*> rotations_of_heads(const KernelGraph& g, int heads, int dim) {
  std::vector<const KernelOp*> rotations;
  for (const int r : readers(g, heads)) {
    const KernelOp& op = g.ops[r];
    const bool slice = op.kind == OpKind::slice && op.attributes.dim == dim;
    if (!slice && (!is_rotary(op.kind) || op.inputs[0] != heads)) return {};
    if (!slice) rotations.push_back(&op);
    for (const int s : slice ? readers(g, op.outputs[0]) : std::vector<int>{})
      if (is_rotary(g.ops[s].kind) && g.ops[s].inputs[0] == op.outputs[0]) rotations.push_back(&g.ops[s]);
  }
  return rotations;
}

}  // namespace zellige::rewrite
