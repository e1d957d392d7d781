#include <algorithm>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/kept.hpp"
#include "graph/reductions.hpp"
#include "lower/lower.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"

namespace zellige::lower {
namespace {

/// Returns whether the target multiplies matmul operands of these types and both lie along K.
bool multiplied_narrow(const tile::TilePrograms& whole, const tile::TileProgram& program, std::array<int, 2> operands,
                       std::array<graph::DType, 2> types, const target::Target& target) {
  if (!target::find_mma(target, graph::name(types[0]), graph::name(types[1]), graph::name(graph::DType::f32)))
    return false;
  for (int side = 0; side < 2; ++side)
    if (!selection::lies_along(whole, program, operands[side],
                               selection::k_dimension(program.nodes[operands[side]].shape, side)))
      return false;
  return true;
}

}  // namespace

int lower_operator(tile::TileProgram& program, graph::OpKind kind, const graph::Attributes& a,
                   const std::vector<int>& operands, const graph::Shape& shape) {
  std::vector<graph::Shape> shapes;
  for (int i : operands) shapes.push_back(program.nodes[i].shape);
  if (graph::is_composed(kind) && !graph::is_primitive_fold(kind, a)) {
    std::vector<int> values = operands;
    for (const graph::ComposedStep& step : graph::compose(kind, a, shapes, program.nodes[operands[0]].dtype)) {
      std::vector<int> in;
      for (int i : step.inputs) in.push_back(values[i]);
      values.push_back(lower_operator(program, step.kind, step.attributes, in));
    }
    return values.back();
  }
  if (kind == graph::OpKind::expand)  // an identity map, which broadcasts
    return lower_operator(program, graph::OpKind::mul_scalar, {.scalar = 1}, operands, shape);
  graph::Attributes kept = a;
  kept.keepdim = true;
  tile::Node n;
  n.in = operands;
  n.shape = shape.empty() ? graph::infer_shapes({program.name}, kind, kept, shapes).at(0) : shape;
  if (const graph::DType from = program.nodes[operands[0]].dtype; !graph::is_narrow(from)) n.dtype = from;
  if (kind == graph::OpKind::cast) n.dtype = graph::is_integer(a.dtype) ? a.dtype : graph::computed_in(a.dtype);
  if (graph::is_elementwise(kind)) {
    n.kind = tile::NodeKind::map, n.op = kind;
    n.to_dtype = a.dtype, n.saturate = a.saturate, n.scalar = a.scalar, n.lo = a.lo, n.hi = a.hi;
  } else if (graph::reduction_of(kind)) {
    n.kind = tile::NodeKind::reduce, n.op = kind == graph::OpKind::amax ? graph::OpKind::reduction_max : kind;
    n.dim = a.dim, n.to = n.shape[a.dim];
    if (kind == graph::OpKind::reduction) n.dtype = tile::kept_in(n.dtype);
  } else if (kind == graph::OpKind::concat) {
    n.kind = tile::NodeKind::concat;
    n.dim = a.dim;
  } else if (kind == graph::OpKind::rotary_interleaved) {
    n.kind = tile::NodeKind::rotate;
    n.dim = static_cast<int>(n.shape.size()) - 1;
  } else if (kind == graph::OpKind::mask) {
    n.kind = tile::NodeKind::map, n.op = kind;
    const auto [i, j] = graph::mask_dims(a, n.shape.size());
    n.dim = static_cast<int>(i), n.key = static_cast<int>(j);
    n.kept = a.kept, n.scalar = a.value;
  } else if (kind == graph::OpKind::slice) {
    n.kind = tile::NodeKind::slice;
    n.dim = a.dim, n.start = a.start;
  } else {
    fail("{}: {} has no lowering", program.name, graph::name(kind));
  }
  return program.add(std::move(n));
}

std::vector<int> lower_operands(const tile::TilePrograms& whole, tile::TileProgram& program, int a, int b,
                                graph::DType of_a, graph::DType of_b, const target::Target& target) {
  const bool narrow =
      graph::is_float8(of_a) && !multiplied_narrow(whole, program, {a, b}, {of_a, of_b}, target);  // as f16 instead
  const auto operand = [&](int value, graph::DType dtype) {
    const tile::Node& from = program.nodes[value];
    const bool loaded = from.kind == tile::NodeKind::load && from.dtype == dtype;
    if (!narrow && loaded) return value;
    tile::Node n{
        .kind = tile::NodeKind::round, .in = {value}, .shape = from.shape, .dtype = narrow ? graph::DType::f16 : dtype};
    if (narrow && !loaded) n.in = {lower_operator(program, graph::OpKind::cast, {.dtype = dtype}, {value})};
    return program.add(std::move(n));
  };
  const int x = operand(a, of_a), y = operand(b, of_b);
  return {x, y};
}

std::int64_t even_tile(std::int64_t extent, std::int64_t limit) {
  const std::int64_t maximum = std::min(limit, extent);
  for (std::int64_t t = maximum; 2 * t > maximum; --t)
    if (extent % t == 0) return t;
  return tile::ceil_div(extent, tile::ceil_div(extent, maximum));
}

}  // namespace zellige::lower
