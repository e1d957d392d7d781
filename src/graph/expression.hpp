// Operators on tensors under construction (builder.hpp), as C++ expressions: matmul(x, w) + b. Functions are named after
// the operators of OpKind. Each appends an operator to the builder of its operands.
#pragma once
#include <type_traits>
#include <utility>

#include "graph/error.hpp"
#include "graph/graph.hpp"

namespace zellige::graph {

/// Receives appended operators: a kernel graph (Builder) or the body of one custom operator (BlockBuilder).
class Scope {
 public:
  virtual ~Scope() = default;
  /// Appends an operator and returns the indices of its results.
  virtual std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) = 0;
  virtual const Shape& shape(int tensor) const = 0;
  virtual DType dtype(int tensor) const = 0;
};

/// A reference to a tensor under construction: a kernel-level Tensor or a block-level Tile. Cheap to copy;
/// valid while its builder exists.
template <class Level>
struct Handle {
  Scope* scope = nullptr;
  int index = -1;
  Shape shape() const { return scope->shape(index); }
  DType dtype() const { return scope->dtype(index); }
};
using TensorHandle = Handle<struct KernelLevel>;
using TileHandle = Handle<struct BlockLevel>;

/// Appends an operator whose operands are all tensors or all tiles of one builder, and returns its results.
/// Throws Error if operands belong to different builders or levels, or if there are no operands.
template <class Level>
std::vector<Handle<Level>> append(OpKind kind, const std::vector<Handle<Level>>& operands, const Attributes& a = {}) {
  std::vector<int> indices;
  for (const Handle<Level>& h : operands) {
    if (!h.scope || h.scope != operands[0].scope)
      fail("{}: expected operands of one builder and one level, found a tensor of another", name(kind));
    indices.push_back(h.index);
  }
  if (operands.empty()) fail("{}: expected at least 1 operand, found 0", name(kind));
  std::vector<Handle<Level>> results;
  for (int index : operands[0].scope->append(kind, a, indices)) results.push_back({operands[0].scope, index});
  return results;
}

// One operator per line.
// clang-format off

/// Returns the matrix product a b. If `tf32`, f32 operands are rounded to tf32.
template <class L> Handle<L> matmul(Handle<L> a, Handle<L> b, bool tf32 = false) {
  return append<L>(OpKind::matmul, {a, b}, {.tf32 = tf32})[0];
}
/// Returns a b + bias. The bias broadcasts to the shape of a b. If `tf32`, f32 operands are rounded to tf32.
template <class L> Handle<L> matmul(Handle<L> a, Handle<L> b, Handle<L> bias, bool tf32 = false) {
  return append<L>(OpKind::matmul, {a, b, bias}, {.tf32 = tf32})[0];
}
template <class L> Handle<L> exp(Handle<L> x) { return append<L>(OpKind::exp, {x})[0]; }
template <class L> Handle<L> square(Handle<L> x) { return append<L>(OpKind::square, {x})[0]; }
template <class L> Handle<L> sqrt(Handle<L> x) { return append<L>(OpKind::sqrt, {x})[0]; }
template <class L> Handle<L> silu(Handle<L> x) { return append<L>(OpKind::silu, {x})[0]; }
template <class L> Handle<L> sigmoid(Handle<L> x) { return append<L>(OpKind::sigmoid, {x})[0]; }
template <class L> Handle<L> gelu(Handle<L> x) { return append<L>(OpKind::gelu, {x})[0]; }
template <class L> Handle<L> gelu_tanh(Handle<L> x) { return append<L>(OpKind::gelu_tanh, {x})[0]; }
template <class L> Handle<L> relu(Handle<L> x) { return append<L>(OpKind::relu, {x})[0]; }
template <class L> Handle<L> log(Handle<L> x) { return append<L>(OpKind::log, {x})[0]; }
/// Returns log(1 + x), precise near 0.
template <class L> Handle<L> log1p(Handle<L> x) { return append<L>(OpKind::log1p, {x})[0]; }
template <class L> Handle<L> neg(Handle<L> x) { return append<L>(OpKind::neg, {x})[0]; }
template <class L> Handle<L> abs(Handle<L> x) { return append<L>(OpKind::abs, {x})[0]; }
template <class L> Handle<L> rsqrt(Handle<L> x) { return append<L>(OpKind::rsqrt, {x})[0]; }
template <class L> Handle<L> tanh(Handle<L> x) { return append<L>(OpKind::tanh, {x})[0]; }
template <class L> Handle<L> sin(Handle<L> x) { return append<L>(OpKind::sin, {x})[0]; }
template <class L> Handle<L> cos(Handle<L> x) { return append<L>(OpKind::cos, {x})[0]; }
template <class L> Handle<L> mul_scalar(Handle<L> x, double s) {
  return append<L>(OpKind::mul_scalar, {x}, {.scalar = s})[0];
}
template <class L> Handle<L> clamp(Handle<L> x, double lo, double hi) {
  return append<L>(OpKind::clamp, {x}, {.lo = lo, .hi = hi})[0];
}

template <class L> Handle<L> cast(Handle<L> x, DType dtype, bool saturate = false) {
  return append<L>(OpKind::cast, {x}, {.dtype = dtype, .saturate = saturate})[0];
}

// Views: kernels read the operand's memory with another shape and other strides.

/// Returns x with permuted dimensions: dimension d of the result is dimension dims[d] of x.
template <class L> Handle<L> permute(Handle<L> x, std::vector<std::int64_t> dims) {
  return append<L>(OpKind::permute, {x}, {.sizes = std::move(dims)})[0];
}
template <class L> Handle<L> reshape(Handle<L> x, Shape shape) {
  return append<L>(OpKind::reshape, {x}, {.sizes = std::move(shape)})[0];
}
template <class L> Handle<L> expand(Handle<L> x, Shape shape) {
  return append<L>(OpKind::expand, {x}, {.sizes = std::move(shape)})[0];
}
/// Returns elements [start, end) of `x` along `dim`.
template <class L> Handle<L> slice(Handle<L> x, int dim, std::int64_t start, std::int64_t end) {
  return append<L>(OpKind::slice, {x}, {.dim = dim, .start = start, .end = end})[0];
}

/// Masks a tensor by element index: elements outside the bounds `kept` (such as a causal mask) become
/// `value`. `dims` are the two dimensions whose indices the bounds compare (default: the last two). In a
/// block graph use BlockBuilder::mask(), which needs the tile's position.
inline TensorHandle mask(TensorHandle x, const Kept& kept, double value = Attributes{}.value, std::vector<std::int64_t> dims = {}) {
  return append<KernelLevel>(OpKind::mask, {x}, {.sizes = std::move(dims), .kept = kept, .value = value})[0];
}

/// Masks a tensor by element index, like mask(x, kept), and by lengths: an element also becomes `value` if
/// its index along the mask's second dimension is not below its length. `lengths`, an int32 tensor that
/// broadcasts to `x`, has the length for each element.
inline TensorHandle mask(TensorHandle x, TensorHandle lengths, const Kept& kept = {}, double value = Attributes{}.value,
                   std::vector<std::int64_t> dims = {}) {
  return append<KernelLevel>(OpKind::mask, {x, lengths}, {.sizes = std::move(dims), .kept = kept, .value = value})[0];
}

// Elementwise operators whose last operand `y` is a tensor or a scalar.

template <class L> Handle<L> ending_in(OpKind kind, std::vector<Handle<L>> operands, Handle<L> y) {
  operands.push_back(y);
  return append<L>(kind, operands)[0];
}
template <class L> Handle<L> ending_in(OpKind kind, std::vector<Handle<L>> operands, double y) {
  return append<L>(kind, operands, {.scalar = y})[0];
}
template <class L, class Y> Handle<L> pow(Handle<L> x, Y y) { return ending_in<L>(OpKind::pow, {x}, y); }
template <class L, class Y> Handle<L> operator+(Handle<L> x, Y y) { return ending_in<L>(OpKind::add, {x}, y); }
template <class L, class Y> Handle<L> operator-(Handle<L> x, Y y) { return ending_in<L>(OpKind::sub, {x}, y); }
template <class L, class Y> Handle<L> operator/(Handle<L> x, Y y) { return ending_in<L>(OpKind::div, {x}, y); }
template <class L, class Y> Handle<L> maximum(Handle<L> x, Y y) { return ending_in<L>(OpKind::maximum, {x}, y); }
template <class L, class Y> Handle<L> minimum(Handle<L> x, Y y) { return ending_in<L>(OpKind::minimum, {x}, y); }
/// Returns log(e^x + e^y).
template <class L> Handle<L> logaddexp(Handle<L> x, Handle<L> y) { return append<L>(OpKind::logaddexp, {x, y})[0]; }
template <class L, class Y> Handle<L> eq(Handle<L> x, Y y) { return ending_in<L>(OpKind::eq, {x}, y); }
template <class L, class Y> Handle<L> ne(Handle<L> x, Y y) { return ending_in<L>(OpKind::ne, {x}, y); }
template <class L, class Y> Handle<L> lt(Handle<L> x, Y y) { return ending_in<L>(OpKind::lt, {x}, y); }
template <class L, class Y> Handle<L> le(Handle<L> x, Y y) { return ending_in<L>(OpKind::le, {x}, y); }
template <class L, class Y> Handle<L> gt(Handle<L> x, Y y) { return ending_in<L>(OpKind::gt, {x}, y); }
template <class L, class Y> Handle<L> ge(Handle<L> x, Y y) { return ending_in<L>(OpKind::ge, {x}, y); }
template <class L> Handle<L> operator*(Handle<L> x, Handle<L> y) { return append<L>(OpKind::mul, {x, y})[0]; }
template <class L> Handle<L> operator*(Handle<L> x, double s) { return mul_scalar(x, s); }
template <class L> Handle<L> operator*(double s, Handle<L> x) { return mul_scalar(x, s); }
template <class L> Handle<L> operator-(Handle<L> x) { return neg(x); }
/// Returns x where the condition is not 0, otherwise y.
template <class L, class Y> Handle<L> where(Handle<L> condition, Handle<L> x, Y y) {
  return ending_in<L>(OpKind::where, {condition, x}, y);
}

/// Sums over every to-th element along `dim`, which leaves `to` elements: y[j] = x[j] + x[j + to] + x[j + 2 to] + ...
template <class L> Handle<L> reduction(Handle<L> x, int dim, std::int64_t to = 1) {
  return append<L>(OpKind::reduction, {x}, {.dim = dim, .to = to})[0];
}

// Reductions along one dimension or several: `dims` is an int or Dims.

using Dims = std::vector<std::int64_t>;
template <class L, class D> Handle<L> reduced_along(OpKind kind, Handle<L> x, D dims, bool keepdim) {
  Attributes a{.keepdim = keepdim};
  if constexpr (std::is_integral_v<D>) a.dim = static_cast<int>(dims);
  else a.sizes = std::move(dims);
  return append<L>(kind, {x}, a)[0];
}
template <class L, class D = Dims> Handle<L> sum(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::sum, x, std::move(dims), keepdim);
}
template <class L, class D = Dims> Handle<L> mean(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::mean, x, std::move(dims), keepdim);
}
template <class L, class D = Dims> Handle<L> amax(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::amax, x, std::move(dims), keepdim);
}
template <class L, class D = Dims> Handle<L> prod(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::prod, x, std::move(dims), keepdim);
}
template <class L, class D = Dims> Handle<L> amin(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::amin, x, std::move(dims), keepdim);
}
template <class L, class D = Dims> Handle<L> logsumexp(Handle<L> x, D dims, bool keepdim = false) {
  return reduced_along(OpKind::logsumexp, x, std::move(dims), keepdim);
}
template <class L> Handle<L> softmax(Handle<L> x, int dim) { return append<L>(OpKind::softmax, {x}, {.dim = dim})[0]; }
/// Returns the softmax along `dim`, with zeros in rows that are entirely -inf, like torch._safe_softmax.
template <class L> Handle<L> safe_softmax(Handle<L> x, int dim) {
  return append<L>(OpKind::safe_softmax, {x}, {.dim = dim})[0];
}
template <class L> Handle<L> log_softmax(Handle<L> x, int dim) {
  return append<L>(OpKind::log_softmax, {x}, {.dim = dim})[0];
}

/// Returns the extents of the dimensions over which a norm is computed (its normalized shape), given the shape
/// of its weight: that shape without leading ones. If only one dimension remains, returns an empty shape,
/// which means the last dimension.
inline Shape lines_of(Shape weight) {
  while (weight.size() > 1 && weight.front() == 1) weight.erase(weight.begin());
  return weight.size() > 1 ? weight : Shape{};
}

// Norms over the last dimension, over the trailing dimensions of extents `shape`, or over the dimensions of the weight.

template <class L> Handle<L> rms_norm(Handle<L> x, Shape shape, double eps) {
  return append<L>(OpKind::rms_norm, {x}, {.sizes = std::move(shape), .eps = eps})[0];
}
template <class L> Handle<L> layer_norm(Handle<L> x, Shape shape, double eps) {
  return append<L>(OpKind::layer_norm, {x}, {.sizes = std::move(shape), .eps = eps})[0];
}
template <class L> Handle<L> rms_norm(Handle<L> x, double eps = 0) { return append<L>(OpKind::rms_norm, {x}, {.eps = eps})[0]; }
template <class L> Handle<L> rms_norm(Handle<L> x, Handle<L> weight, double eps) {
  return append<L>(OpKind::rms_norm, {x, weight}, {.sizes = lines_of(weight.shape()), .eps = eps})[0];
}
template <class L> Handle<L> layer_norm(Handle<L> x, double eps = 0) {
  return append<L>(OpKind::layer_norm, {x}, {.eps = eps})[0];
}
template <class L> Handle<L> layer_norm(Handle<L> x, Handle<L> weight, Handle<L> bias, double eps) {
  return append<L>(OpKind::layer_norm, {x, weight, bias}, {.sizes = lines_of(weight.shape()), .eps = eps})[0];
}

/// Rotates pairs of elements of x by angles given as cos and sin (rotary position embedding). A pair is
/// elements k and k + n/2 of the last dimension, whose extent is n. cos and sin broadcast to x.
template <class L> Handle<L> rotary(Handle<L> x, Handle<L> cos, Handle<L> sin) {
  return append<L>(OpKind::rotary, {x, cos, sin})[0];
}
/// The same with elements 2k and 2k + 1 as a pair.
template <class L> Handle<L> rotary_interleaved(Handle<L> x, Handle<L> cos, Handle<L> sin) {
  return append<L>(OpKind::rotary_interleaved, {x, cos, sin})[0];
}

template <class L> Handle<L> concat(const std::vector<Handle<L>>& parts, int dim) {
  return append<L>(OpKind::concat, parts, {.dim = dim})[0];
}
template <class L> Handle<L> concat(Handle<L> a, Handle<L> b, int dim) { return concat<L>({a, b}, dim); }
template <class L> std::vector<Handle<L>> split(Handle<L> x, int dim, std::vector<std::int64_t> sizes) {
  return append<L>(OpKind::split, {x}, {.dim = dim, .sizes = std::move(sizes)});
}
// clang-format on

// Gather and scatter of rows by index; formulas are in rows.hpp. Scatters exist at the kernel level only.

/// Returns the rows of x that `numbers` lists: y[i, ...] = x[numbers[i], ...].
template <class L>
Handle<L> gather(Handle<L> x, Handle<L> numbers) {
  return append<L>(OpKind::gather, {x, numbers})[0];
}
inline TensorHandle scatter(TensorHandle x, TensorHandle numbers, TensorHandle updates) {
  return append<KernelLevel>(OpKind::scatter, {x, numbers, updates})[0];
}
inline TensorHandle slice_scatter(TensorHandle x, TensorHandle part, int dim, std::int64_t start) {
  return append<KernelLevel>(OpKind::slice_scatter, {x, part}, {.dim = dim, .start = start})[0];
}
inline TensorHandle slice_scatter(TensorHandle x, TensorHandle part, int dim, TensorHandle start) {
  return append<KernelLevel>(OpKind::slice_scatter, {x, part, start}, {.dim = dim})[0];
}

/// Returns two tiles: the running maximum along `dim` over the loop iterations so far, and the running
/// maximum before this iteration minus the one after it.
inline std::pair<TileHandle, TileHandle> reduction_max(TileHandle x, int dim) {
  const std::vector<TileHandle> both = append<BlockLevel>(OpKind::reduction_max, {x}, {.dim = dim});
  return {both[0], both[1]};
}
inline TileHandle accum(TileHandle x) { return append<BlockLevel>(OpKind::accum, {x})[0]; }
inline TileHandle accum_red_sum(TileHandle x) { return append<BlockLevel>(OpKind::accum_red_sum, {x})[0]; }
inline TileHandle accum_red_mean(TileHandle x) { return append<BlockLevel>(OpKind::accum_red_mean, {x})[0]; }
inline TileHandle accum_red_rms(TileHandle x) { return append<BlockLevel>(OpKind::accum_red_rms, {x})[0]; }
inline TileHandle accum_redtox_sum(TileHandle x, std::int64_t to) {
  return append<BlockLevel>(OpKind::accum_redtox_sum, {x}, {.to = to})[0];
}
inline TileHandle accum_max(TileHandle x) { return append<BlockLevel>(OpKind::accum_max, {x})[0]; }
/// Returns log(sum(exp(x))) over the loop iterations, computed after the loop.
inline TileHandle accum_logsumexp(TileHandle x) { return append<BlockLevel>(OpKind::accum_logsumexp, {x})[0]; }
/// Accumulates acc = acc * r + x over the loop iterations and returns acc, computed after the loop. `r`
/// broadcasts to `x`.
inline TileHandle accum_rescale(TileHandle x, TileHandle r) {
  return append<BlockLevel>(OpKind::accum_rescale, {x, r})[0];
}
/// Accumulates acc = acc * r + x over the loop iterations, then sums acc along the last dimension and returns
/// the sums. `r` broadcasts to `x`.
inline TileHandle accum_red_sum_rescale(TileHandle x, TileHandle r) {
  return append<BlockLevel>(OpKind::accum_red_sum_rescale, {x, r})[0];
}

}  // namespace zellige::graph
