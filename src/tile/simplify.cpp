#include "tile/simplify.hpp"

#include <cmath>
#include <utility>

namespace zellige::plan {
namespace {

/// Rebuilds a tile program, operator by operator, with the simplifications.
class Simplification {
 public:
  explicit Simplification(TileProgram& p) : p_(p), old_(std::exchange(p.nodes, {})) {}

  void run() {
    for (Node& n : old_) {
      for (int& in : n.in) in = now_[static_cast<std::size_t>(in)];
      now_.push_back(add(std::move(n)));
    }
  }

 private:
  Node& node(int i) { return p_.nodes[static_cast<std::size_t>(i)]; }

  /// Adds operator `n` of the old program to the new one, simplified. Returns the index of the new node that
  /// has the operator's value.
  int add(Node n) {
    if (n.kind == NodeKind::round || n.kind == NodeKind::store)
      while (rounds_the_same(n.in[0], n.dtype)) n.in[0] = node(n.in[0]).in[0];
    const bool largest = n.kind == NodeKind::reduce && n.op == OpKind::reduction_max && !n.carried,
               lowest =
                   n.kind == NodeKind::map && n.op == OpKind::mask && std::isinf(n.scalar) && n.scalar < 0;
    if ((!largest && !lowest) || !scaled(n.in[0])) return p_.add(std::move(n));
    Node scale = node(n.in[0]);
    n.in[0] = scale.in[0];
    scale.shape = n.shape;
    scale.section = n.section;
    scale.name.clear();
    scale.in = {p_.add(std::move(n))};
    return p_.add(std::move(scale));
  }

  /// Returns whether node x is a cast, without saturation, of a floating-point value to the floating-point
  /// type `to`. If so, a `round` or `store` node that rounds x to `to` can read the cast's operand in place
  /// of x, with the same result.
  bool rounds_the_same(int x, DType to) {
    const Node& n = node(x);
    return n.kind == NodeKind::map && n.op == OpKind::cast && n.to_dtype == to && !n.saturate &&
           !graph::is_integer(to) && !graph::is_integer(node(n.in[0]).dtype);
  }
  /// Returns whether node x is a multiplication of float32 values by a positive finite constant.
  bool scaled(int x) {
    const Node& n = node(x);
    return n.kind == NodeKind::map && n.op == OpKind::mul_scalar && n.scalar > 0 && std::isfinite(n.scalar) &&
           n.dtype == DType::f32 && node(n.in[0]).dtype == DType::f32;
  }

  TileProgram& p_;
  std::vector<Node> old_;
  std::vector<int> now_;  // by old node: its new index, or its replacement
};

}  // namespace

void simplify(TileProgram& p) { Simplification(p).run(); }

}  // namespace zellige::plan
