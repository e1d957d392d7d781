// Splits rows before the operators whose result is split: what norms and elementwise operators make has the maxima of its blocks in
// the kernel that makes it.
//
//   reshape(f(x, w), (m, n / 128, 128))     f(reshape(x, (m, n / 128, 128)), reshape(w, (n / 128, 128)))
//
// So rows are quantised in blocks of 128, with a scale each, where they are computed.
#include <algorithm>
#include <set>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

bool is_map(OpKind kind) { return graph::is_elementwise(kind) || kind == OpKind::cast; }
bool is_norm(OpKind kind) { return kind == OpKind::rms_norm || kind == OpKind::layer_norm; }

/// Splits the rows of the operators above one reshape.
class RowSplit {
 public:
  /// `view`: a reshape that splits rows of its operand in `blocks`.
  RowSplit(const Known& g, const KernelOp& view) : g_(g), view_(view) {
    const Shape& shape = g.shape(view.outputs[0]);
    blocks_ = {shape[shape.size() - 2], shape.back()};
    row_ = blocks_[0] * blocks_[1];
    find(view.inputs[0]);
  }

  std::optional<KernelGraph> written() const {
    if (above_.empty()) return {};
    Rewrite out(g_.graph);
    std::vector<int> of(g_.graph.tensors.size(), -1);  // by tensor: the same with its rows split
    for (const KernelOp& op : g_.graph.ops) {
      if (&op == &view_) {
        out.add(OpKind::reshape, {of[static_cast<std::size_t>(view_.inputs[0])]}, view_.attributes, "",
                view_.outputs[0]);
      } else if (!above_.contains(op.outputs[0])) {
        out.keep(op);
      } else {
        std::vector<int> in;
        for (const int t : op.inputs) {
          int& split = of[static_cast<std::size_t>(t)];
          if (split < 0) split = out.add(OpKind::reshape, {t}, {.sizes = split_shape(t)}, g_.name(t) + "_blocks");
          in.push_back(split);
        }
        Attributes attributes = op.attributes;
        if (is_norm(op.kind)) attributes.sizes = blocks_;
        const int made = out.step(op, op.kind, in, attributes, "_blocks");
        of[static_cast<std::size_t>(op.outputs[0])] = made;
        out.replace(op, OpKind::reshape, {made}, {.sizes = g_.shape(op.outputs[0])});
      }
    }
    return out.finished();
  }

 private:
  /// Returns the shape of an operand whose last dimension has whole rows, or one element for each.
  Shape split_shape(int t) const {
    Shape shape = g_.shape(t);
    const bool whole = !shape.empty() && shape.back() == row_;
    if (!shape.empty()) shape.pop_back();
    if (whole)
      shape.insert(shape.end(), blocks_.begin(), blocks_.end());
    else
      shape.insert(shape.end(), {1, 1});
    return shape;
  }

  /// Adds the operator that makes tensor `t`, and those that make its operands, if rows of them may be split. What reads a product stays
  /// in its kernel.
  void find(int t) {
    const KernelOp* op = g_.producer[t];
    if (!op || above_.contains(t) || op->outputs.size() != 1 ||
        g_.graph.tensors[static_cast<std::size_t>(t)].memory >= 0)
      return;
    const bool norm = is_norm(op->kind) && (op->attributes.sizes.empty() || op->attributes.sizes == Shape{row_});
    const auto fits = [&](int in) {
      const Shape& shape = g_.shape(in);
      return !g_.made_by(in, OpKind::matmul) && (shape.empty() || shape.back() == row_ || shape.back() == 1);
    };
    if ((!norm && !is_map(op->kind)) || g_.shape(t).back() != row_ || !std::ranges::all_of(op->inputs, fits)) return;
    above_.insert(t);
    for (const int in : op->inputs)
      if (g_.shape(in) == g_.shape(t)) find(in);
  }

  const Known& g_;
  const KernelOp& view_;
  Shape blocks_;
  std::int64_t row_ = 0;
  std::set<int> above_;  // results of operators whose rows are split
};

/// Returns whether the largest element of each row of tensor `t` is taken, of it or of what elementwise operators make of it.
bool has_maxima(const Known& g, int t, int depth = 4) {
  const int last = static_cast<int>(g.shape(t).size()) - 1;
  return std::ranges::any_of(readers(g.graph, t), [&](int reader) {
    const KernelOp& op = g.graph.ops[static_cast<std::size_t>(reader)];
    if (op.kind == OpKind::amax)
      return op.attributes.sizes.empty() ? op.attributes.dim == last : op.attributes.sizes == Shape{last};
    return is_map(op.kind) && depth > 0 && g.shape(op.outputs[0]) == g.shape(t) &&
           has_maxima(g, op.outputs[0], depth - 1);
  });
}

}  // namespace

std::optional<KernelGraph> split_rows(const KernelGraph& given) {
  const auto takes_maxima = [](const KernelOp& op) { return op.kind == OpKind::amax; };
  if (given.sizes || std::ranges::none_of(given.ops, takes_maxima)) return {};
  const Known g(given);
  for (const KernelOp& op : given.ops) {
    if (op.kind != OpKind::reshape) continue;
    const Shape &shape = g.shape(op.outputs[0]), &from = g.shape(op.inputs[0]);
    const bool splits = !from.empty() && shape.size() == from.size() + 1 && shape.back() > 1 &&
                        shape[shape.size() - 2] > 1 && std::equal(from.begin(), from.end() - 1, shape.begin());
    if (!splits || !has_maxima(g, op.outputs[0])) continue;
    if (auto made = RowSplit(g, op).written()) return made;
  }
  return {};
}

}  // namespace zellige::rewrite
