// Operators on tensors under construction (builder.hpp), as C++ expressions: matmul(x, w) + b. Functions are named after
// the operators of OpKind. Each appends an operator to the builder of its operands.
#pragma once
#include <initializer_list>
#include <utility>

#include "graph/error.hpp"
#include "graph/graph.hpp"
#include "graph/sized_graph.hpp"
#include "graph/unfold.hpp"

namespace zellige::graph {

/// Receives appended operators: a kernel graph (Builder) or the body of one custom operator (BlockBuilder).
class Scope {
 public:
  virtual ~Scope() = default;
  /// Appends an operator and returns the indices of its results.
  virtual std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) = 0;
  /// Has an attribute of the operator that is appended next follow from sizes, for all values of them: entries of the list
  /// Attributes::sizes, or the one integer that `of` names. Throws Error in a block graph, whose integers are constants.
  virtual void follow(IntegerPlace::Of of, const SymbolicShape&) = 0;
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

/// The same for an operator with one result, which it returns.
template <class Level>
Handle<Level> made(const std::vector<Handle<Level>>& operands, OpKind kind, const Attributes& a = {}) {
  return append<Level>(kind, operands, a)[0];
}

/// Returns the integers at the greatest values of their sizes.
inline Shape planned(const SymbolicShape& shape) {
  Shape integers;
  for (const SymbolicExtent& e : shape) integers.push_back(e.planned());
  return integers;
}

/// Appends an operator whose attributes `of` follow from sizes; `a` has what they are at their greatest values.
template <class Level>
std::vector<Handle<Level>> append_sized(OpKind kind, const std::vector<Handle<Level>>& operands, const Attributes& a,
                                        const std::vector<std::pair<IntegerPlace::Of, SymbolicShape>>& sized) {
  for (const auto& [of, shape] : sized)
    if (!operands.empty() && operands[0].scope && !is_constant(shape)) operands[0].scope->follow(of, shape);
  return append<Level>(kind, operands, a);
}

// One operator per line.
// clang-format off

/// Returns the matrix product a b. If `tf32`, f32 operands are rounded to tf32.
template <class L> Handle<L> matmul(Handle<L> a, Handle<L> b, bool tf32 = false) { return made<L>({a, b}, OpKind::matmul, {.tf32 = tf32}); }
/// Returns a b + bias. The bias broadcasts to the shape of a b. If `tf32`, f32 operands are rounded to tf32.
template <class L> Handle<L> matmul(Handle<L> a, Handle<L> b, Handle<L> bias, bool tf32 = false) {
  return made<L>({a, b, bias}, OpKind::matmul, {.tf32 = tf32});
}
template <class L> Handle<L> exp(Handle<L> x) { return made<L>({x}, OpKind::exp); }
template <class L> Handle<L> square(Handle<L> x) { return made<L>({x}, OpKind::square); }
template <class L> Handle<L> sqrt(Handle<L> x) { return made<L>({x}, OpKind::sqrt); }
template <class L> Handle<L> silu(Handle<L> x) { return made<L>({x}, OpKind::silu); }
template <class L> Handle<L> sigmoid(Handle<L> x) { return made<L>({x}, OpKind::sigmoid); }
template <class L> Handle<L> gelu(Handle<L> x) { return made<L>({x}, OpKind::gelu); }
template <class L> Handle<L> gelu_tanh(Handle<L> x) { return made<L>({x}, OpKind::gelu_tanh); }
template <class L> Handle<L> relu(Handle<L> x) { return made<L>({x}, OpKind::relu); }
template <class L> Handle<L> log(Handle<L> x) { return made<L>({x}, OpKind::log); }
/// Returns log(1 + x), precise near 0.
template <class L> Handle<L> log1p(Handle<L> x) { return made<L>({x}, OpKind::log1p); }
template <class L> Handle<L> neg(Handle<L> x) { return made<L>({x}, OpKind::neg); }
template <class L> Handle<L> abs(Handle<L> x) { return made<L>({x}, OpKind::abs); }
template <class L> Handle<L> rsqrt(Handle<L> x) { return made<L>({x}, OpKind::rsqrt); }
template <class L> Handle<L> tanh(Handle<L> x) { return made<L>({x}, OpKind::tanh); }
template <class L> Handle<L> sin(Handle<L> x) { return made<L>({x}, OpKind::sin); }
template <class L> Handle<L> cos(Handle<L> x) { return made<L>({x}, OpKind::cos); }
template <class L> Handle<L> mul_scalar(Handle<L> x, double s) { return made<L>({x}, OpKind::mul_scalar, {.scalar = s}); }
template <class L> Handle<L> clamp(Handle<L> x, double lo, double hi) { return made<L>({x}, OpKind::clamp, {.lo = lo, .hi = hi}); }

template <class L> Handle<L> cast(Handle<L> x, DType dtype, bool saturate = false) {
  return made<L>({x}, OpKind::cast, {.dtype = dtype, .saturate = saturate});
}

// Views: kernels read the operand's memory with another shape and other strides.

/// Returns x with permuted dimensions: dimension d of the result is dimension dims[d] of x.
template <class L> Handle<L> permute(Handle<L> x, std::vector<std::int64_t> dims) {
  return made<L>({x}, OpKind::permute, {.sizes = std::move(dims)});
}
template <class L> Handle<L> reshape(Handle<L> x, const SymbolicShape& shape) {
  return append_sized<L>(OpKind::reshape, {x}, {.sizes = planned(shape)}, {{IntegerPlace::Of::sizes, shape}})[0];
}
template <class L> Handle<L> expand(Handle<L> x, const SymbolicShape& shape) {
  return append_sized<L>(OpKind::expand, {x}, {.sizes = planned(shape)}, {{IntegerPlace::Of::sizes, shape}})[0];
}
/// Returns elements [start, end) of `x` along `dim`.
template <class L> Handle<L> slice(Handle<L> x, int dim, const SymbolicExtent& start, const SymbolicExtent& end) {
  return append_sized<L>(OpKind::slice, {x}, {.dim = dim, .start = start.planned(), .end = end.planned()},
                         {{IntegerPlace::Of::start, {start}}, {IntegerPlace::Of::end, {end}}})[0];
}

/// Returns the windows of `x` along `dim`: their number takes the place of its extent, and their elements are the last dimension.
inline TensorHandle unfold(TensorHandle x, int dim, const Unfold& u) {
  return made<KernelLevel>({x}, OpKind::unfold, {.dim = dim, .sizes = {u.size, u.step, u.dilation, u.before, u.after}});
}

/// Masks a tensor by element index: elements outside the bounds `kept` (such as a causal mask) become
/// `value`. `dims` are the two dimensions whose indices the bounds compare (default: the last two). In a
/// block graph use BlockBuilder::mask(), which needs the tile's position.
inline TensorHandle mask(TensorHandle x, const Kept& kept, double value = Attributes{}.value, std::vector<std::int64_t> dims = {}) {
  return made<KernelLevel>({x}, OpKind::mask, {.sizes = std::move(dims), .kept = kept, .value = value});
}

/// Masks a tensor by element index, like mask(x, kept), with bounds that follow from sizes: {.tril = P} keeps what T queries see of
/// P + T keys.
inline TensorHandle sized_mask(TensorHandle x, const SymbolicKept& kept, double value = Attributes{}.value) {
  Kept at_greatest;
  std::vector<std::pair<IntegerPlace::Of, SymbolicShape>> sized;
  const auto put = [&](IntegerPlace::Of of, const std::optional<SymbolicExtent>& bound, std::optional<std::int64_t>& to) {
    if (bound) to = bound->planned(), sized.push_back({of, {*bound}});
  };
  put(IntegerPlace::Of::tril, kept.tril, at_greatest.tril), put(IntegerPlace::Of::triu, kept.triu, at_greatest.triu);
  put(IntegerPlace::Of::length, kept.length, at_greatest.length);
  return append_sized<KernelLevel>(OpKind::mask, {x}, {.kept = at_greatest, .value = value}, sized)[0];
}

/// Masks a tensor by element index, like mask(x, kept), and by lengths: an element also becomes `value` if
/// its index along the mask's second dimension is not below its length. `lengths`, an int32 tensor that
/// broadcasts to `x`, has the length for each element.
inline TensorHandle mask(TensorHandle x, TensorHandle lengths, const Kept& kept = {}, double value = Attributes{}.value,
                   std::vector<std::int64_t> dims = {}) {
  return made<KernelLevel>({x, lengths}, OpKind::mask, {.sizes = std::move(dims), .kept = kept, .value = value});
}

// Elementwise operators whose last operand `y` is a tensor or a scalar.

template <class L> Handle<L> ending_in(OpKind kind, std::vector<Handle<L>> operands, Handle<L> y) {
  operands.push_back(y);
  return made<L>(operands, kind);
}
template <class L> Handle<L> ending_in(OpKind kind, std::vector<Handle<L>> operands, double y) {
  return made<L>(operands, kind, {.scalar = y});
}
template <class L, class Y> Handle<L> pow(Handle<L> x, Y y) { return ending_in<L>(OpKind::pow, {x}, y); }
template <class L, class Y> Handle<L> operator+(Handle<L> x, Y y) { return ending_in<L>(OpKind::add, {x}, y); }
template <class L, class Y> Handle<L> operator-(Handle<L> x, Y y) { return ending_in<L>(OpKind::sub, {x}, y); }
template <class L, class Y> Handle<L> operator/(Handle<L> x, Y y) { return ending_in<L>(OpKind::div, {x}, y); }
template <class L, class Y> Handle<L> maximum(Handle<L> x, Y y) { return ending_in<L>(OpKind::maximum, {x}, y); }
template <class L, class Y> Handle<L> minimum(Handle<L> x, Y y) { return ending_in<L>(OpKind::minimum, {x}, y); }
/// Returns log(e^x + e^y).
template <class L> Handle<L> logaddexp(Handle<L> x, Handle<L> y) { return made<L>({x, y}, OpKind::logaddexp); }
template <class L, class Y> Handle<L> eq(Handle<L> x, Y y) { return ending_in<L>(OpKind::eq, {x}, y); }
template <class L, class Y> Handle<L> ne(Handle<L> x, Y y) { return ending_in<L>(OpKind::ne, {x}, y); }
template <class L, class Y> Handle<L> lt(Handle<L> x, Y y) { return ending_in<L>(OpKind::lt, {x}, y); }
template <class L, class Y> Handle<L> le(Handle<L> x, Y y) { return ending_in<L>(OpKind::le, {x}, y); }
template <class L, class Y> Handle<L> gt(Handle<L> x, Y y) { return ending_in<L>(OpKind::gt, {x}, y); }
template <class L, class Y> Handle<L> ge(Handle<L> x, Y y) { return ending_in<L>(OpKind::ge, {x}, y); }
template <class L> Handle<L> operator*(Handle<L> x, Handle<L> y) { return made<L>({x, y}, OpKind::mul); }
template <class L> Handle<L> operator*(Handle<L> x, double s) { return mul_scalar(x, s); }
template <class L> Handle<L> operator*(double s, Handle<L> x) { return mul_scalar(x, s); }
template <class L> Handle<L> operator-(Handle<L> x) { return neg(x); }
/// Returns x where the condition is not 0, otherwise y.
template <class L, class Y> Handle<L> where(Handle<L> condition, Handle<L> x, Y y) {
  return ending_in<L>(OpKind::where, {condition, x}, y);
}

/// Sums over every to-th element along `dim`, which leaves `to` elements: y[j] = x[j] + x[j + to] + x[j + 2 to] + ...
template <class L> Handle<L> reduction(Handle<L> x, int dim, std::int64_t to = 1) {
  return made<L>({x}, OpKind::reduction, {.dim = dim, .to = to});
}

// Reductions along one dimension or several.

struct Dims {
  Dims(int one) : dim(one) {}
  Dims(std::vector<std::int64_t> several) : sizes(std::move(several)) {}
  Dims(std::initializer_list<std::int64_t> several) : sizes(several) {}
  int dim = -1;
  std::vector<std::int64_t> sizes;
};
template <class L> Handle<L> along(OpKind kind, Handle<L> x, const Dims& dims, bool keepdim) {
  return made<L>({x}, kind, {.dim = dims.dim, .sizes = dims.sizes, .keepdim = keepdim});
}
template <class L> Handle<L> sum(Handle<L> x, const Dims& dims, bool keepdim = false) { return along<L>(OpKind::sum, x, dims, keepdim); }
template <class L> Handle<L> mean(Handle<L> x, const Dims& dims, bool keepdim = false) { return along<L>(OpKind::mean, x, dims, keepdim); }
template <class L> Handle<L> amax(Handle<L> x, const Dims& dims, bool keepdim = false) { return along<L>(OpKind::amax, x, dims, keepdim); }
template <class L> Handle<L> prod(Handle<L> x, const Dims& dims, bool keepdim = false) { return along<L>(OpKind::prod, x, dims, keepdim); }
template <class L> Handle<L> amin(Handle<L> x, const Dims& dims, bool keepdim = false) { return along<L>(OpKind::amin, x, dims, keepdim); }
template <class L> Handle<L> logsumexp(Handle<L> x, const Dims& dims, bool keepdim = false) {
  return along<L>(OpKind::logsumexp, x, dims, keepdim);
}
template <class L> Handle<L> softmax(Handle<L> x, int dim) { return made<L>({x}, OpKind::softmax, {.dim = dim}); }
/// Returns the softmax along `dim`, with zeros in rows that are entirely -inf, like torch._safe_softmax.
template <class L> Handle<L> safe_softmax(Handle<L> x, int dim) { return made<L>({x}, OpKind::safe_softmax, {.dim = dim}); }
template <class L> Handle<L> log_softmax(Handle<L> x, int dim) { return made<L>({x}, OpKind::log_softmax, {.dim = dim}); }

/// Returns the extents of the dimensions over which a norm is computed (its normalized shape), given the shape
/// of its weight: that shape without leading ones. If only one dimension remains, returns an empty shape,
/// which means the last dimension.
inline Shape lines_of(Shape weight) {
  while (weight.size() > 1 && weight.front() == 1) weight.erase(weight.begin());
  return weight.size() > 1 ? weight : Shape{};
}

// Norms over the last dimension, over the trailing dimensions of extents `shape`, or over the dimensions of the weight.

template <class L> Handle<L> rms_norm(Handle<L> x, Shape shape, double eps) {
  return made<L>({x}, OpKind::rms_norm, {.sizes = std::move(shape), .eps = eps});
}
template <class L> Handle<L> layer_norm(Handle<L> x, Shape shape, double eps) {
  return made<L>({x}, OpKind::layer_norm, {.sizes = std::move(shape), .eps = eps});
}
template <class L> Handle<L> rms_norm(Handle<L> x, double eps = 0) { return made<L>({x}, OpKind::rms_norm, {.eps = eps}); }
template <class L> Handle<L> rms_norm(Handle<L> x, Handle<L> weight, double eps) {
  return made<L>({x, weight}, OpKind::rms_norm, {.sizes = lines_of(weight.shape()), .eps = eps});
}
template <class L> Handle<L> layer_norm(Handle<L> x, double eps = 0) { return made<L>({x}, OpKind::layer_norm, {.eps = eps}); }
template <class L> Handle<L> layer_norm(Handle<L> x, Handle<L> weight, Handle<L> bias, double eps) {
  return made<L>({x, weight, bias}, OpKind::layer_norm, {.sizes = lines_of(weight.shape()), .eps = eps});
}

/// Rotates pairs of elements of x by angles given as cos and sin (rotary position embedding). A pair is
/// elements k and k + n/2 of the last dimension, whose extent is n. cos and sin broadcast to x.
template <class L> Handle<L> rotary(Handle<L> x, Handle<L> cos, Handle<L> sin) { return made<L>({x, cos, sin}, OpKind::rotary); }
/// The same with elements 2k and 2k + 1 as a pair.
template <class L> Handle<L> rotary_interleaved(Handle<L> x, Handle<L> cos, Handle<L> sin) {
  return made<L>({x, cos, sin}, OpKind::rotary_interleaved);
}

template <class L> Handle<L> concat(const std::vector<Handle<L>>& parts, int dim) { return made<L>(parts, OpKind::concat, {.dim = dim}); }
template <class L> Handle<L> concat(Handle<L> a, Handle<L> b, int dim) { return concat<L>({a, b}, dim); }
template <class L> std::vector<Handle<L>> split(Handle<L> x, int dim, const SymbolicShape& sizes) {
  return append_sized<L>(OpKind::split, {x}, {.dim = dim, .sizes = planned(sizes)}, {{IntegerPlace::Of::sizes, sizes}});
}

// Collectives, of graphs over ranks (collective.hpp). They exist at the kernel level only.

inline TensorHandle all_reduce(TensorHandle x) { return made<KernelLevel>({x}, OpKind::all_reduce); }
inline TensorHandle all_reduce_max(TensorHandle x) { return made<KernelLevel>({x}, OpKind::all_reduce_max); }
inline TensorHandle all_gather(TensorHandle x, int dim) { return made<KernelLevel>({x}, OpKind::all_gather, {.dim = dim}); }
inline TensorHandle reduce_scatter(TensorHandle x, int dim) { return made<KernelLevel>({x}, OpKind::reduce_scatter, {.dim = dim}); }
inline TensorHandle all_to_all(TensorHandle x, int split, int joined) {
  return made<KernelLevel>({x}, OpKind::all_to_all, {.sizes = {split, joined}});
}
inline TensorHandle broadcast(TensorHandle x, int root) { return made<KernelLevel>({x}, OpKind::broadcast, {.start = root}); }
// clang-format on

// Gather and scatter of rows by index; formulas are in rows.hpp. Scatters exist at the kernel level only.

/// Returns the rows of x that `numbers` lists: y[i, ...] = x[numbers[i], ...].
template <class L>
Handle<L> gather(Handle<L> x, Handle<L> numbers) {
  return made<L>({x, numbers}, OpKind::gather);
}
inline TensorHandle scatter(TensorHandle x, TensorHandle numbers, TensorHandle updates) {
  return made<KernelLevel>({x, numbers, updates}, OpKind::scatter);
}
inline TensorHandle slice_scatter(TensorHandle x, TensorHandle part, int dim, const SymbolicExtent& start) {
  return append_sized<KernelLevel>(OpKind::slice_scatter, {x, part}, {.dim = dim, .start = start.planned()},
                                   {{IntegerPlace::Of::start, {start}}})[0];
}
inline TensorHandle slice_scatter(TensorHandle x, TensorHandle part, int dim, TensorHandle start) {
  return made<KernelLevel>({x, part, start}, OpKind::slice_scatter, {.dim = dim});
}

/// Returns two tiles: the running maximum along `dim` over the loop iterations so far, and the running
/// maximum before this iteration minus the one after it.
inline std::pair<TileHandle, TileHandle> reduction_max(TileHandle x, int dim) {
  const std::vector<TileHandle> both = append<BlockLevel>(OpKind::reduction_max, {x}, {.dim = dim});
  return {both[0], both[1]};
}
inline TileHandle accum(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum); }
inline TileHandle accum_red_sum(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum_red_sum); }
inline TileHandle accum_red_mean(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum_red_mean); }
inline TileHandle accum_red_rms(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum_red_rms); }
inline TileHandle accum_redtox_sum(TileHandle x, std::int64_t to) {
  return made<BlockLevel>({x}, OpKind::accum_redtox_sum, {.to = to});
}
inline TileHandle accum_max(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum_max); }
/// Returns log(sum(exp(x))) over the loop iterations, computed after the loop.
inline TileHandle accum_logsumexp(TileHandle x) { return made<BlockLevel>({x}, OpKind::accum_logsumexp); }
/// Accumulates acc = acc * r + x over the loop iterations and returns acc, computed after the loop. `r`
/// broadcasts to `x`.
inline TileHandle accum_rescale(TileHandle x, TileHandle r) { return made<BlockLevel>({x, r}, OpKind::accum_rescale); }
/// Accumulates acc = acc * r + x over the loop iterations, then sums acc along the last dimension and returns
/// the sums. `r` broadcasts to `x`.
inline TileHandle accum_red_sum_rescale(TileHandle x, TileHandle r) {
  return made<BlockLevel>({x, r}, OpKind::accum_red_sum_rescale);
}

}  // namespace zellige::graph
