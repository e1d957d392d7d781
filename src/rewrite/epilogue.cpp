#include "rewrite/epilogue.hpp"

#include <algorithm>

#include "graph/elementwise.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether an operand of this shape is broadcast to `whole` row by row: it has all of the rows or one, and all of the columns or one.
bool is_broadcast(const Shape& shape, const Shape& whole) {
  if (shape.empty() || shape.size() > whole.size()) return false;
  const std::size_t missing = whole.size() - shape.size();
  if (shape.back() != 1 && shape.back() != whole.back()) return false;
  bool all = true, one = true;
  for (std::size_t d = 0; d + 1 < whole.size(); ++d) {
    const std::int64_t extent = d < missing ? 1 : shape[d - missing];
    all = all && extent == whole[d], one = one && extent == 1;
  }
  return all || one;
}

/// Returns whether the operator leaves the elements of a matrix where they are, for dimensions before the last one are merged or split.
bool keeps_columns(const Known& g, const KernelOp& op) {
  const Shape &from = g.shape(op.inputs[0]), &to = g.shape(op.outputs[0]);
  return op.kind == OpKind::reshape && from.size() >= 2 && to.size() >= 2 && from.back() == to.back();
}

}  // namespace

Shape as_matrix(const Shape& shape) {
  if (shape.empty()) return {1, 1};
  return {graph::size(shape) / std::max<std::int64_t>(1, shape.back()), shape.back()};
}

bool EpilogueReader::collect(const KernelOp& op, Epilogue& to, std::set<const KernelOp*>& seen) const {
  if (seen.contains(&op)) return true;
  if (op.outputs.size() != 1) return false;
  if (op.kind == OpKind::matmul) {
    if (to.products.size() == products_.max_products || !products_.is_product(op)) return false;
    for (const KernelOp* other : to.products)
      if (!products_.together(*other, op)) return false;
    to.products.push_back(&op), seen.insert(&op);
    return true;
  }
  const bool view = keeps_columns(g_, op);
  if (!view && !graph::is_elementwise(op.kind)) return false;
  const Shape& whole = g_.shape(op.outputs[0]);
  bool depends = false;
  for (const int in : op.inputs) {
    const KernelOp* made = g_.producer[static_cast<std::size_t>(in)];
    const std::size_t products = to.products.size(), ops = to.ops.size();
    std::set<const KernelOp*> before = seen;
    if (made && (g_.shape(in) == whole || view) && collect(*made, to, seen)) {
      depends = true;
      continue;
    }
    // What is made of no product is loaded.
    if (!is_broadcast(g_.shape(in), whole)) return false;
    to.products.resize(products), to.ops.resize(ops), seen = std::move(before);
    if (g_.inner(in, OpKind::cast)) to.ops.push_back(made);  // the kernel casts what it loads
  }
  if (depends) to.ops.push_back(&op), seen.insert(&op);
  return depends;
}

std::optional<Epilogue> EpilogueReader::with_last(const KernelOp& op) const {
  Epilogue e{.result = op.outputs.empty() ? -1 : op.outputs[0]};
  std::set<const KernelOp*> seen;
  if (!collect(op, e, seen) || e.products.empty()) return {};
  // Nobody else reads what lies between.
  std::map<int, int> reads;
  for (const KernelOp* reader : e.ops)
    for (const int in : reader->inputs) ++reads[in];
  const auto leaves = [&](const KernelOp* made) {
    const int t = made->outputs[0];
    return t != e.result && reads[t] != g_.readers[static_cast<std::size_t>(t)];
  };
  if (std::ranges::any_of(e.ops, leaves) || std::ranges::any_of(e.products, leaves)) return {};
  return e;
}

std::optional<Epilogue> EpilogueReader::ending_at(const KernelOp& op) const {
  std::optional<Epilogue> e = with_last(op);
  if (!e) return {};
  for (const int r : readers(g_.graph, e->result))
    if (with_last(g_.graph.ops[static_cast<std::size_t>(r)])) return {};
  return e;
}

int add_epilogue(const Epilogue& e, std::map<int, int> tiles, const std::function<int(int)>& load,
                 const std::function<int(const KernelOp&, std::vector<int>)>& add) {
  for (const KernelOp* op : e.ops) {
    std::vector<int> in;
    for (const int t : op->inputs) {
      const auto known = tiles.find(t);
      in.push_back(known != tiles.end() ? known->second : tiles[t] = load(t));
    }
    tiles[op->outputs[0]] = op->kind == OpKind::reshape ? in[0] : add(*op, std::move(in));
  }
  return tiles.at(e.result);
}

}  // namespace zellige::rewrite
