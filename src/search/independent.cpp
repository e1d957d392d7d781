#include "search/independent.hpp"

#include <algorithm>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"

namespace zellige::search {
namespace {

using graph::OpKind;
using graph::SymbolicExtent;
using graph::SymbolicShape;

constexpr int none = -1;   // no dimension depends on the size
constexpr int mixed = -2;  // several do, or one in another way than being the size

bool depends(const SymbolicExtent& e, std::string_view size) {
  return std::ranges::any_of(e.sizes(), [&](const graph::NamedSize* s) { return s->name == size; });
}

/// Returns the dimension whose extent is the size, or `none` or `mixed`.
int dim_of(const SymbolicShape& shape, std::string_view size) {
  int found = none;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!depends(shape[d], size)) continue;
    if (found != none || !shape[d].size()) return mixed;
    found = static_cast<int>(d);
  }
  return found;
}

/// One operator, and the dimensions of its operands and of its result that have the size, counted from 0; `none`: it has none.
struct OperatorAlong {
  const graph::KernelOp& op;
  const std::vector<SymbolicShape>& shapes;  // of all tensors
  const std::vector<int>& dims;              // of all tensors

  const SymbolicShape& shape(std::size_t operand) const { return shapes[op.inputs[operand]]; }
  int dim(std::size_t operand) const { return dims[op.inputs[operand]]; }
  int result() const { return dims[op.outputs[0]]; }
  /// Returns the operand's dimension as one of the result, with which it is aligned at the last dimension.
  int aligned(std::size_t operand) const {
    if (dim(operand) == none) return none;
    return dim(operand) + static_cast<int>(shapes[op.outputs[0]].size()) - static_cast<int>(shape(operand).size());
  }
  bool all_aligned() const {
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (aligned(i) != none && aligned(i) != result()) return false;
    return true;
  }
};

bool matmul_independent(const OperatorAlong& a) {
  if (a.op.inputs.size() > 2 && a.aligned(2) != none && a.aligned(2) != a.result()) return false;
  const int m = static_cast<int>(a.shape(0).size()), n = static_cast<int>(a.shape(1).size());
  if (m < 2 || n < 2) return false;
  const bool rows = a.dim(0) == m - 2, columns = a.dim(1) == n - 1;
  if (a.dim(0) == m - 1 || a.dim(1) == n - 2) return false;  // summed over
  return !((rows || columns) && a.dim(0) != none && a.dim(1) != none);
}

/// Returns whether a reshape keeps the dimension with the size: as many elements are before it as before.
bool reshape_independent(const OperatorAlong& a) {
  SymbolicExtent before = 1, after = 1;
  for (int d = 0; d < a.dim(0); ++d) before = before * a.shape(0)[static_cast<std::size_t>(d)];
  for (int d = 0; d < a.result(); ++d) after = after * a.shapes[a.op.outputs[0]][static_cast<std::size_t>(d)];
  return a.dim(0) != none && before == after;
}

/// Returns whether an operator along dimensions `along` of its first operand computes independently: the size's dimension is none of them.
bool outside(const OperatorAlong& a, const std::vector<int>& along) { return std::ranges::count(along, a.dim(0)) == 0; }

bool gather_independent(const OperatorAlong& a) {
  if (a.dim(0) == 0) return false;  // rows are read from all over it
  return a.dim(0) == none || a.dim(1) == none;
}

bool is_independent(const OperatorAlong& a) {
  const OpKind kind = a.op.kind;
  if (graph::is_elementwise(kind)) return a.all_aligned();
  const int rank = static_cast<int>(a.shape(0).size());
  switch (kind) {
    case OpKind::matmul:
      return matmul_independent(a);
    case OpKind::softmax:
    case OpKind::safe_softmax:
    case OpKind::log_softmax:
    case OpKind::split:
    case OpKind::slice:
      return outside(a, {a.op.attributes.dim});
    case OpKind::concat:
      return outside(a, {a.op.attributes.dim}) && a.all_aligned();
    case OpKind::rms_norm:
    case OpKind::layer_norm:
    case OpKind::rotary:
    case OpKind::rotary_interleaved:
      return outside(a, graph::composed_dims(kind, a.op.attributes, graph::Shape(a.shape(0).size(), 1))) &&
             a.all_aligned();
    case OpKind::mask: {
      const auto [i, j] = graph::mask_dims(a.op.attributes, a.shape(0).size());
      return outside(a, {static_cast<int>(i), static_cast<int>(j)}) && a.all_aligned();
    }
    case OpKind::permute:
      return a.dim(0) == none || a.op.attributes.sizes[static_cast<std::size_t>(a.result())] == a.dim(0);
    case OpKind::reshape:
      return reshape_independent(a);
    case OpKind::expand:
      return a.dim(0) == none || a.aligned(0) == a.result();
    case OpKind::gather:
      return gather_independent(a);
    case OpKind::reduction:
      return outside(a, {a.op.attributes.dim}) && a.dim(0) < rank;
    default:
      return graph::reduces(kind) &&
             outside(a, graph::composed_dims(kind, a.op.attributes, graph::Shape(a.shape(0).size(), 1)));
  }
}

/// Returns whether an attribute of an operator depends on the size, other than the shape of a view.
bool in_attributes(const graph::KernelGraph& g, std::string_view size) {
  using Of = graph::IntegerPlace::Of;
  return std::ranges::any_of(g.sizes->integers, [&](const auto& integer) {
    const auto& [place, e] = integer;
    return place.of != Of::shape && place.of != Of::strides && place.of != Of::sizes && depends(e, size);
  });
}

}  // namespace

bool independent(const graph::KernelGraph& g, std::string_view size) {
  if (!g.sizes || in_attributes(g, size)) return false;
  const std::vector<SymbolicShape> shapes = graph::extents(g);
  std::vector<int> dims;
  for (const SymbolicShape& shape : shapes) dims.push_back(dim_of(shape, size));
  if (std::ranges::count(dims, mixed) > 0) return false;
  return std::ranges::all_of(g.ops, [&](const graph::KernelOp& op) {
    const auto has = [&](int t) { return dims[t] != none; };
    if (std::ranges::none_of(op.inputs, has) && std::ranges::none_of(op.outputs, has)) return true;
    return std::ranges::all_of(op.outputs, [&](int t) { return dims[t] != none; }) &&
           is_independent({op, shapes, dims});
  });
}

}  // namespace zellige::search
