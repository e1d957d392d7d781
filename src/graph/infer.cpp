#include "graph/infer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "graph/compose.hpp"
#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/extent_names.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "graph/rows.hpp"
#include "graph/sized_graph.hpp"
#include "graph/unfold.hpp"

namespace zellige::graph {

void check_shape(const Where& where, std::string_view what, const Shape& shape) {
  if (shape.empty() || shape.size() > max_rank)
    fail_at(where, "expected {} to have 1 to {} dimensions, found {}", what, max_rank, shape.size());
  std::int64_t elements = 1;
  for (std::int64_t extent : shape) {
    if (extent < 1 || extent > max_extent)
      fail_at(where, "expected every dimension of {} to be 1 to {}, found {} in {}", what, max_extent, extent,
              to_string(shape));
    if (elements > max_elements / extent)
      fail_at(where, "expected {} to have at most {} elements, found {}", what, max_elements, to_string(shape));
    elements *= extent;
  }
}

void check_shape(const Where& where, std::string_view what, const SymbolicShape& shape) {
  if (shape.empty() || shape.size() > max_rank)
    fail_at(where, "expected {} to have 1 to {} dimensions, found {}", what, max_rank, shape.size());
  std::int64_t elements = 1;
  for (const SymbolicExtent& extent : shape) {
    if (extent.low() < 1 || extent.high() > max_extent)
      fail_at(where, "expected every dimension of {} to be 1 to {} for all sizes, found {} in {}, which is {} to {}",
              what, max_extent, extent, to_string(shape), extent.low(), extent.high());
    if (elements > max_elements / extent.high())
      fail_at(where, "expected {} to have at most {} elements for all sizes, found {}", what, max_elements,
              to_string(shape));
    elements *= extent.high();
  }
}

namespace {

// The rules hold for constants and for extents that depend on sizes. S is Shape, SymbolicShape, where a comparison says whether
// it holds for all values of the sizes, or NamedShape, where it joins what is equal.

template <class S>
using ExtentOf = typename S::value_type;

std::optional<std::int64_t> constant(std::int64_t extent) { return extent; }
std::optional<std::int64_t> constant(const SymbolicExtent& extent) { return extent.constant(); }
std::optional<std::int64_t> constant(const NamedExtent& extent) { return extent.value(); }

/// Attributes of an operator from which shapes follow; `rest` are those that are constants.
template <class S>
struct ShapeAttributes {
  const Attributes& rest;
  const std::vector<ExtentOf<S>>& sizes;
  const ExtentOf<S>&start, &end;
};

template <class S>
ExtentOf<S> elements_of(const S& shape) {
  ExtentOf<S> product = 1;
  for (const auto& extent : shape) product = product * extent;
  return product;
}

std::vector<int> reduced_dims(OpKind kind, const Attributes& a, const Shape& x) { return composed_dims(kind, a, x); }
template <class S>
std::vector<int> reduced_dims(OpKind kind, const Attributes& a, const S& x) {
  return composed_dims(kind, a, Shape(x.size(), 1));
}

/// Returns the shape to which a and b broadcast, or their batch dimensions: those before the last two. Throws Error if they
/// do not broadcast.
template <class S>
S broadcast_shape(const Where& where, const S& a, const S& b, bool batch = false) {
  // Aligns the shapes at their last dimensions; a missing dimension has extent 1.
  const std::size_t rank = std::max(a.size(), b.size());
  S c(batch ? rank - 2 : rank);
  for (std::size_t d = 0; d < c.size(); ++d) {
    const ExtentOf<S> x = d + a.size() < rank ? 1 : a[d + a.size() - rank],
                      y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      fail_at(where, "expected {}dimensions that are equal or 1, found {} and {} (dimension {}: {} and {})",
              batch ? "batch " : "", to_string(a), to_string(b), d, x, y);
    c[d] = x == 1 ? y : x;
  }
  return c;
}

/// Returns whether shape `x` broadcasts to exactly the shape `to`.
template <class S>
bool broadcasts_to(const S& x, const S& to) {
  bool fits = x.size() <= to.size();
  for (std::size_t d = 1; fits && d <= x.size(); ++d)
    fits = x[x.size() - d] == 1 || x[x.size() - d] == to[to.size() - d];
  return fits;
}

/// A matmul's operands and product as matrices, as MatmulShapes has them of constants.
template <class S>
struct MatricesOf {
  S a, b, product;
};

template <class S>
MatricesOf<S> matrices_of(const S& left, const S& right) {
  MatricesOf<S> m{left.size() == 1 ? S{1, left[0]} : left, right.size() == 1 ? S{right[0], 1} : right, {}};
  const std::size_t rank = std::max(m.a.size(), m.b.size());
  m.product.assign(rank, 1);
  for (const S* s : {&m.a, &m.b})
    for (std::size_t d = 0; d + 2 < s->size(); ++d) {
      ExtentOf<S>& extent = m.product[d + rank - s->size()];
      if (extent == 1) extent = (*s)[d];
    }
  m.product[rank - 2] = m.a[m.a.size() - 2];
  m.product[rank - 1] = m.b.back();
  return m;
}

template <class S>
S without_vector_dims(S product, const S& a, const S& b) {
  const auto last = product.end() - 1;
  if (a.size() == 1 && b.size() == 1) return S(1, 1);
  if (b.size() == 1) product.erase(last);
  if (a.size() == 1) product.erase(last - 1);
  return product;
}

/// Returns the shape of a matmul's result. Throws Error if K or the batch dimensions do not agree, or a bias does not
/// broadcast to the product.
template <class S>
S matmul_shape(const Where& where, const std::vector<S>& operands) {
  const S &a = operands.at(0), &b = operands.at(1);
  const ExtentOf<S>&k = a.back(), &rows = b[b.size() == 1 ? 0 : b.size() - 2];
  if (k != rows)
    fail_at(where,
            "expected the last dimension of the left operand to equal the last but one of the right, found {} "
            "and {} in {} times {}",
            k, rows, to_string(a), to_string(b));
  const MatricesOf<S> m = matrices_of(a, b);
  broadcast_shape(where, m.a, m.b, true);
  const S product = without_vector_dims(m.product, a, b);
  if (operands.size() > 2 && !broadcasts_to(operands[2], product))
    fail_at(where, "expected a bias that broadcasts to the product {}, found {}", to_string(product),
            to_string(operands[2]));
  return product;
}

template <class S>
void check_dim(const Where& where, int dim, const S& shape) {
  if (dim < 0 || dim >= static_cast<int>(shape.size()))
    fail_at(where, "expected dim to be 0 to {}, a dimension of {}, found {}", shape.size() - 1, to_string(shape), dim);
}

/// Returns `shape` after a reduction of dimension `dim` to `to` elements. Throws Error unless `to` divides
/// the dimension's extent.
template <class S>
S reduced(const Where& where, S shape, int dim, std::int64_t to) {
  check_dim(where, dim, shape);
  if (to < 1 || !divides(to, shape[dim]))
    fail_at(where, "expected `to` to divide dimension {} of {}, found {}", dim, to_string(shape), to);
  shape[dim] = to;
  return shape;
}

/// Returns the shape of x after a reduction along one dimension or several, which become 1, or are dropped if
/// `keepdim` is false. Throws Error if a dimension is out of range or listed twice.
template <class S>
S reduced_shape(const Where& where, OpKind kind, const Attributes& a, const S& x) {
  for (std::int64_t d : a.sizes) check_dim(where, static_cast<int>(d), x);
  if (a.sizes.empty()) check_dim(where, a.dim, x);
  const std::vector<int> dims = reduced_dims(kind, a, x);  // in descending order
  S y = x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0 && dims[i] == dims[i - 1])
      fail_at(where, "expected each dimension of {} once at most, found {} twice", to_string(x), dims[i]);
    y[dims[i]] = 1;
  }
  if (a.keepdim) return y;
  for (int d : dims) y.erase(y.begin() + d);
  return y.empty() ? S(1, 1) : y;  // a full reduction leaves one element
}

/// Throws Error unless a norm's normalized shape consists of the last extents of the operand, and the weight
/// and bias have this shape.
template <class S>
void check_norm(const Where& where, const ShapeAttributes<S>& a, const std::vector<S>& operands) {
  const S& x = operands[0];
  const std::size_t count = std::max<std::size_t>(a.sizes.size(), 1);
  const bool fits = count <= x.size();
  if (!fits ||
      (!a.sizes.empty() && !std::equal(a.sizes.begin(), a.sizes.end(), x.end() - static_cast<std::ptrdiff_t>(count))))
    fail_at(where, "expected a normalized_shape of the last dimensions of {}, found {}", to_string(x),
            to_string(S(a.sizes.begin(), a.sizes.end())));
  const S line(x.end() - static_cast<std::ptrdiff_t>(count), x.end());
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const S& weight = operands[i];
    S expected = line;  // the normalized shape, after any number of leading ones
    if (weight.size() > line.size()) expected.insert(expected.begin(), weight.size() - line.size(), 1);
    if (weight.size() > x.size() || !(weight == expected))
      fail_at(where, "expected a {} of the last dimension{} of {}, {}, found {}", i == 1 ? "weight" : "bias",
              count > 1 ? "s" : "", to_string(x), to_string(line), to_string(weight));
  }
}

/// Throws Error unless cos and sin fit x, the operand of a rotary embedding. Their last dimension must have
/// one element per pair of x or one per element; the other dimensions must broadcast.
template <class S>
void check_rotary(const Where& where, const S& x, const S& cos, const S& sin) {
  if (!divides(2, x.back()))
    fail_at(where, "expected a last dimension of pairs, an even one, found {} of {}", x.back(), to_string(x));
  for (const S* table : {&cos, &sin}) {
    const bool one_per_angle = table->back() == x.back() || table->back() == x.back() / 2;
    if (!one_per_angle || !broadcasts_to(S(table->begin(), table->end() - 1), S(x.begin(), x.end() - 1)))
      fail_at(where, "expected a {} that broadcasts to {}, its last dimension being {} or {}, found {}",
              table == &cos ? "cos" : "sin", to_string(x), x.back() / 2, x.back(), to_string(*table));
  }
  if (cos.back() != sin.back())
    fail_at(where, "expected cos and sin of one last dimension, found {} and {}", to_string(cos), to_string(sin));
}

/// Throws Error unless a mask has two distinct dimensions i and j and at least one bound. Its lengths, if
/// any, must broadcast to the operand and have extent 1 along j.
template <class S>
void check_mask(const Where& where, const Attributes& a, const std::vector<S>& operands) {
  const S& x = operands[0];
  const auto rank = static_cast<std::int64_t>(x.size());
  if (rank < 2) fail_at(where, "expected an operand of rank 2 at least, found {}", to_string(x));
  const std::vector<std::int64_t>& dims = a.sizes;
  const bool two =
      dims.size() == 2 && dims[0] != dims[1] && std::ranges::min(dims) >= 0 && std::ranges::max(dims) < rank;
  if (!dims.empty() && !two)
    fail_at(where, "expected dims to be two dimensions of {}, of i and of j, found {}", to_string(x), to_string(dims));
  const Kept& k = a.kept;
  if (!k.tril && !k.triu && !k.length && operands.size() < 2)
    fail_at(where, "expected tril, triu, length or an operand of lengths, found none of them");
  for (const auto& [name, value] : {std::pair{"tril", k.tril}, {"triu", k.triu}})
    if (value && (*value < -max_extent || *value > max_extent))
      fail_at(where, "expected {} to be {} to {}, found {}", name, -max_extent, max_extent, *value);
  if (k.length && (*k.length < 0 || *k.length > max_extent))
    fail_at(where, "expected length to be 0 to {}, found {}", max_extent, *k.length);
  if (std::isnan(a.value)) fail_at(where, "expected a value that is a number, found {}", a.value);
  if (operands.size() < 2 && k.first) fail_at(where, "expected an operand of first indices, found first without one");
  if (operands.size() < 2) return;
  const S& lengths = operands[1];
  const std::size_t j = mask_dims(a, x.size()).second, skip = x.size() - std::min(x.size(), lengths.size());
  if (!broadcasts_to(lengths, x) || (j >= skip && lengths[j - skip] != 1))
    fail_at(where, "expected lengths that broadcast to {}, one along dimension {}, found {}", to_string(x), j,
            to_string(lengths));
}

/// Returns the shape of x after the permutation in the attributes. Throws Error unless the permutation lists
/// each dimension once.
template <class S>
S permuted(const Where& where, const Attributes& a, const S& x) {
  Shape dims(x.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (!std::ranges::is_permutation(a.sizes, dims))
    fail_at(where, "expected dims to name each of the {} dimensions of {} once, found {}", x.size(), to_string(x),
            to_string(a.sizes));
  S y;
  for (std::int64_t d : a.sizes) y.push_back(x[d]);
  return y;
}

/// Returns the shape of a slice of x. Throws Error unless its range is not empty and lies within the dimension.
template <class S>
S sliced(const Where& where, const ShapeAttributes<S>& a, S x) {
  const int dim = a.rest.dim;
  check_dim(where, dim, x);
  const ExtentOf<S> extent = x[dim];
  if (!always_less_equal(0, a.start) || !always_less_equal(a.start + 1, a.end) || !always_less_equal(a.end, extent))
    fail_at(where, "expected 0 <= start < end <= {} (dimension {} of {}), found {} and {}", extent, dim, to_string(x),
            a.start, a.end);
  x[dim] = a.end - a.start;
  return x;
}

/// Returns the shape of the windows of x: their number in place of `dim`, and their elements as the last dimension. Throws Error
/// unless there is a window, and the extent is a constant.
template <class S>
S unfolded(const Where& where, const Attributes& a, S x) {
  check_dim(where, a.dim, x);
  const Unfold u = unfold_of(where, a);
  for (std::size_t d = 0; d < x.size(); ++d)
    if (!constant(x[d]))
      fail_at(where, "expected windows of extents that are constant, found {} (dimension {} of {})", x[d], d,
              to_string(x));
  const std::optional<std::int64_t> extent = constant(x[a.dim]);
  if (u.reach() > *extent + u.before + u.after)
    fail_at(where, "expected windows that reach over at most {} elements (dimension {} of {}{}), found {}",
            *extent + u.before + u.after, a.dim, to_string(x), u.padded() ? ", with its padding" : "", u.reach());
  x[a.dim] = u.windows(*extent);
  x.push_back(u.size);
  check_shape(where, "the result", x);
  return x;
}

/// Returns the shape of a concatenation. Throws Error if the operands differ in another dimension than `dim`.
template <class S>
S concat_shape(const Where& where, int dim, const std::vector<S>& operands) {
  if (operands.size() < 2) fail_at(where, "expected at least 2 operands, found {}", operands.size());
  S c = operands[0];
  check_dim(where, dim, c);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    S other = operands[i];
    if (other.size() == c.size()) other[dim] = c[dim];
    if (!(other == c))
      fail_at(where, "expected operands that differ in dimension {} only, found {} and {}", dim, to_string(operands[0]),
              to_string(operands[i]));
  }
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (!always_less_equal(c[dim] + operands[i][dim], max_extent))
      fail_at(where, "expected the joined dimension {} to be at most {}, found more", dim, max_extent);
    c[dim] = c[dim] + operands[i][dim];
  }
  return c;
}

/// Returns the shapes of a split's parts. Throws Error unless the sizes add up to the extent.
template <class S>
std::vector<S> split_shapes(const Where& where, const ShapeAttributes<S>& attributes, const S& shape) {
  const int dim = attributes.rest.dim;
  check_dim(where, dim, shape);
  const ExtentOf<S> extent = shape[dim];
  ExtentOf<S> left = extent;
  std::vector<S> parts;
  for (const ExtentOf<S>& part : attributes.sizes) {
    if (!always_less_equal(1, part) || !always_less_equal(part, left)) break;
    left = left - part;
    parts.push_back(shape);
    parts.back()[dim] = part;
  }
  if (parts.empty() || parts.size() != attributes.sizes.size() || left != 0)
    fail_at(where, "expected sizes of at least 1 that sum to {} (dimension {} of {}), found {}", extent, dim,
            to_string(shape), to_string(S(attributes.sizes.begin(), attributes.sizes.end())));
  return parts;
}

/// Returns the shapes of the results of an operator that changes the shape of its operand x, or joins operands.
template <class S>
std::vector<S> moved_shapes(const Where& where, OpKind kind, const ShapeAttributes<S>& a,
                            const std::vector<S>& operands) {
  const S& x = operands[0];
  if (kind == OpKind::permute) return {permuted(where, a.rest, x)};
  if (kind == OpKind::slice) return {sliced(where, a, x)};
  if (kind == OpKind::unfold) return {unfolded(where, a.rest, x)};
  if (kind == OpKind::concat) return {concat_shape(where, a.rest.dim, operands)};
  if (kind == OpKind::split) return split_shapes(where, a, x);
  S shape(a.sizes.begin(), a.sizes.end());
  if (kind == OpKind::expand) {
    if (!(broadcast_shape(where, x, shape) == shape))
      fail_at(where, "expected a shape that {} broadcasts to, found {}", to_string(x), to_string(shape));
    return {std::move(shape)};
  }
  check_shape(where, "the result", shape);
  if (elements_of(shape) != elements_of(x))
    fail_at(where, "expected a shape with the number of elements of {}, {}, found {}, {}", to_string(x), elements_of(x),
            to_string(shape), elements_of(shape));
  return {std::move(shape)};
}

template <class S>
std::vector<S> shapes_of(const Where& where, OpKind kind, const ShapeAttributes<S>& a, const std::vector<S>& operands) {
  const S& x = operands.at(0);
  if (reduces(kind)) return {reduced_shape(where, kind, a.rest, x)};
  if (names_rows(kind)) return rows_shapes(where, kind, a.rest.dim, a.start, operands);
  if (is_accumulator(kind)) {
    const ReductionRow& row = *reduction_of(kind);
    if (row.rescales && !(broadcast_shape(where, x, operands.at(1)) == x))
      fail_at(where, "expected a factor that broadcasts to the accumulated {}, found {}", to_string(x),
              to_string(operands[1]));
    return {row.along == Along::iterations ? x : reduced(where, x, static_cast<int>(x.size()) - 1, a.rest.to)};
  }
  switch (kind) {
    case OpKind::matmul:
      return {matmul_shape(where, operands)};
    case OpKind::reduction:
      return {reduced(where, x, a.rest.dim, a.rest.to)};
    case OpKind::reduction_max:
      return std::vector(2, reduced(where, x, a.rest.dim, 1));
    case OpKind::softmax:
    case OpKind::safe_softmax:
    case OpKind::log_softmax:
      check_dim(where, a.rest.dim, x);
      return {x};
    case OpKind::rms_norm:
    case OpKind::layer_norm:
      check_norm(where, a, operands);
      return {x};
    case OpKind::rotary:
    case OpKind::rotary_interleaved:
      check_rotary(where, x, operands.at(1), operands.at(2));
      return {x};
    case OpKind::mask:
      check_mask(where, a.rest, operands);
      return {x};
    case OpKind::permute:
    case OpKind::reshape:
    case OpKind::expand:
    case OpKind::slice:
    case OpKind::unfold:
    case OpKind::concat:
    case OpKind::split:
      return moved_shapes(where, kind, a, operands);
    default:
      S y = x;  // elementwise
      for (std::size_t i = 1; i < operands.size(); ++i) y = broadcast_shape(where, y, operands[i]);
      return {y};
  }
}

}  // namespace

std::vector<Shape> infer_shapes(const Where& where, OpKind kind, const Attributes& a,
                                const std::vector<Shape>& operands) {
  return shapes_of<Shape>(where, kind, {a, a.sizes, a.start, a.end}, operands);
}

std::vector<SymbolicShape> infer_shapes(const Where& where, OpKind kind, const SymbolicAttributes& a,
                                        const std::vector<SymbolicShape>& operands) {
  return shapes_of<SymbolicShape>(where, kind, {a.rest, a.sizes, a.start, a.end}, operands);
}

std::vector<NamedShape> infer_shapes(const Where& where, OpKind kind, const Attributes& a,
                                     const std::vector<NamedShape>& operands) {
  return shapes_of<NamedShape>(where, kind, {a, NamedShape(a.sizes), a.start, a.end}, operands);
}

std::vector<bool> varies(const BlockGraph& block) {
  std::vector<bool> result(block.tensors.size(), false);
  if (block.loop == 1) return result;
  for (const BlockOp& op : block.ops) {
    bool v = op.loop_dim >= 0;
    for (int t : op.inputs) v = v || result[t];
    for (int t : op.outputs) result[t] = v && !is_accumulator(op.kind);
  }
  return result;
}

Shape without_vectors(Shape product, const Shape& a, const Shape& b) {
  return without_vector_dims(std::move(product), a, b);
}

MatmulShapes matrices(const Shape& left, const Shape& right) {
  MatricesOf<Shape> m = matrices_of(left, right);
  return {std::move(m.a), std::move(m.b), std::move(m.product)};
}

}  // namespace zellige::graph
