// Simplifies a tile program by rules that hold exactly in float32: the results are the same bits, with less work.
//
//   round(cast(x))        a cast to the dtype of the round is removed; so is a cast before a store
//   cast(unpack(b))       every number of 4 bits is one of 16 bits: unpack yields it as float32
//   max(c x) = c max(x)   if c > 0: rounding is monotone, and only one number per row is multiplied
//   mask(c x) = c mask(x) if masked elements are minus infinity, so that the previous rule applies
#include <cmath>
#include <utility>

#include "rules/table.hpp"
#include "tile/program.hpp"

namespace zellige::tile {
namespace {

/// Returns whether node x is a cast, without saturation, of a floating-point value to the floating-point type `to`: a
/// `round` or `store` node that rounds x to `to` can then read the cast's operand, with the same result. A cast of or to f64 is
/// none: it rounds to float32 first, or widens registers.
bool rounds_the_same(const TileProgram& p, int x, DType to) {
  const Node& n = p.nodes[x];
  return n.kind == NodeKind::map && n.op == OpKind::cast && n.to_dtype == to && !n.saturate && !graph::is_integer(to) &&
         !graph::is_integer(p.nodes[n.in[0]].dtype) && p.nodes[n.in[0]].dtype != DType::f64 && to != DType::f64;
}

/// If the operand of `n` is a multiplication of float32 values by a positive finite constant, multiplies the result of
/// `n` instead. Returns false if it is not.
bool before_scale(TileProgram& p, Node& n) {
  Node scale = p.nodes[n.in[0]];
  const auto factor = static_cast<float>(scale.scalar);  // as the kernel has it
  if (scale.kind != NodeKind::map || scale.op != OpKind::mul_scalar || factor <= 0 || !std::isfinite(factor) ||
      scale.dtype != DType::f32 || p.nodes[scale.in[0]].dtype != DType::f32)
    return false;
  n.in[0] = scale.in[0];
  scale.shape = n.shape;
  scale.name.clear();
  scale.in = {p.add(std::move(n))};
  n = std::move(scale);
  return true;
}

}  // namespace

bool each_node(TileProgram& p, OfNode& rule) {
  bool changed = false;
  p.rebuild([&](std::size_t, Node n) {
    changed = rule(p, n) || changed;
    return p.add(std::move(n));
  });
  return changed;
}

bool cast_twice(TileProgram& p, Node& n) {
  if (n.kind != NodeKind::round && n.kind != NodeKind::store) return false;
  if (!rounds_the_same(p, n.in[0], n.dtype)) return false;
  n.in[0] = p.nodes[n.in[0]].in[0];
  return true;
}

bool cast_of_packed(TileProgram& p, Node& n) {
  if (n.kind != NodeKind::map || n.op != OpKind::cast || graph::is_integer(n.to_dtype)) return false;
  Node unpack = p.nodes[n.in[0]];
  if (unpack.kind != NodeKind::unpack || graph::bits(unpack.to_dtype) != 4) return false;
  unpack.dtype = DType::f32, unpack.name = std::move(n.name);
  n = std::move(unpack);
  return true;
}

bool mask_of_scaled(TileProgram& p, Node& n) {
  return n.kind == NodeKind::map && n.op == OpKind::mask && std::isinf(n.scalar) && n.scalar < 0 && before_scale(p, n);
}

bool max_of_scaled(TileProgram& p, Node& n) {
  return n.kind == NodeKind::reduce && n.op == OpKind::reduction_max && !n.carried && before_scale(p, n);
}

}  // namespace zellige::tile
