// Builds graphs from expressions that look like the mathematics. At the kernel level:
//
//   Builder b("lora");
//   Tensor X = b.input("X", {16, 256}), W = b.input("W", {256, 4096});
//   Tensor A = b.input("A", {256, 16}), B = b.input("B", {16, 4096});
//   b.output(matmul(X, W) + matmul(matmul(X, A), B), "Y");
//   KernelGraph g = b.build();                                  // inferred and validated
//
// With a block graph, which defines what one thread block does with its tiles:
//
//   Tensor Y = b.custom({.grid = {64}, .block = {128}, .loop = 4}, [&](BlockBuilder& t) {
//     Tile x = t.load(X, {.loop = 1}), w = t.load(W, {.x = 1, .loop = 0});
//     t.store(accum(matmul(x, w)), {.x = 1});
//   }).at(0);
//
// Functions are named after the operators of OpKind. A mistake throws Error at the call that makes it.
#pragma once
#include <functional>
#include <initializer_list>
#include <utility>

#include "graph/graph.hpp"

namespace zellige::graph {

/// The destination of appended operators: the kernel graph or the body of one custom operator.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) = 0;
  virtual const Shape& shape(int tensor) const = 0;
  virtual DType dtype(int tensor) const = 0;
};

/// A tensor of one level under construction; a value that may be copied while its builder lives.
template <class Level>
struct Handle {
  Scope* scope = nullptr;
  int index = -1;
  Shape shape() const { return scope->shape(index); }
  DType dtype() const { return scope->dtype(index); }
};
using Tensor = Handle<struct KernelLevel>;
using Tile = Handle<struct BlockLevel>;

/// Dimensions that each grid axis and the loop split (load) or concatenate (store); -1: none.
struct Split {
  int x = -1, y = -1, z = -1, loop = -1;
};

/// The part that is stored of the blocks' combined result: elements [start, end) along dim; dim -1: all.
struct Slice {
  int dim = -1;
  std::int64_t start = 0, end = 0;
};

struct Launch {
  Dim3 grid, block{128};
  std::int64_t loop = 1;
};

class Builder;

class BlockBuilder : public Scope {
 public:
  Tile load(Tensor, Split = {}, std::string name = {});
  void store(Tile, Split = {}, std::string name = {}, Strides = {}, Slice = {});
  /// Mask by index; `split` locates the tile in the whole tensor, as in load().
  Tile mask(Tile, const Kept&, Split = {}, double value = Attributes{}.value,
            std::vector<std::int64_t> dims = {});
  /// With lengths, an int32 tile that broadcasts to this tile: keys below the length are kept.
  Tile mask(Tile, Tile lengths, const Kept& = {}, Split = {}, double value = Attributes{}.value,
            std::vector<std::int64_t> dims = {});

  std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) override;
  const Shape& shape(int tensor) const override { return block_.tensors[tensor].shape; }
  DType dtype(int tensor) const override { return block_.tensors[tensor].dtype; }

 private:
  friend class Builder;
  BlockBuilder(Builder& kernel, const Launch&);
  Builder& kernel_;
  BlockGraph block_;
  std::vector<int> inputs_;           // kernel-level tensors that are loaded
  std::vector<KernelTensor> stored_;  // results, as passed to store()
};

class Builder : public Scope {
 public:
  explicit Builder(std::string name);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Tensor input(std::string name, Shape, DType = DType::f16, Strides = {});  // no strides: row-major
  /// An input that no earlier work on the stream writes, such as a weight: kernels may read it before that
  /// work has ended.
  Tensor constant(std::string name, Shape, DType = DType::f16, Strides = {});
  Tensor output(Tensor, std::string name = {}, Strides = {});  // no strides: the planner's choice
  /// y takes the memory of input x. y must be made by scatter or slice_scatter of x, or of a tensor that
  /// already has x's memory.
  Tensor in_place(Tensor y, Tensor x);
  std::vector<Tensor> custom(const Launch&, const std::function<void(BlockBuilder&)>& body);
  KernelGraph build() const;

  std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) override;
  const Shape& shape(int tensor) const override { return graph_.tensors[tensor].shape; }
  DType dtype(int tensor) const override { return graph_.tensors[tensor].dtype; }

 private:
  friend class BlockBuilder;
  KernelGraph graph_;
};

/// Appends one operator, for handles of either level.
template <class Level>
std::vector<Handle<Level>> append(OpKind kind, const std::vector<Handle<Level>>& operands,
                                  const Attributes& a = {}) {
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

// One operator a line.
// clang-format off
template <class L> Handle<L> matmul(Handle<L> a, Handle<L> b, bool tf32 = false) {
  return append<L>(OpKind::matmul, {a, b}, {.tf32 = tf32})[0];
}
/// a b + bias; bias broadcasts to a b.
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

// Views.
template <class L> Handle<L> permute(Handle<L> x, std::vector<std::int64_t> dims) {
  return append<L>(OpKind::permute, {x}, {.sizes = std::move(dims)})[0];
}
template <class L> Handle<L> reshape(Handle<L> x, Shape shape) {
  return append<L>(OpKind::reshape, {x}, {.sizes = std::move(shape)})[0];
}
template <class L> Handle<L> expand(Handle<L> x, Shape shape) {
  return append<L>(OpKind::expand, {x}, {.sizes = std::move(shape)})[0];
}
/// Elements [start, end) along `dim`.
template <class L> Handle<L> slice(Handle<L> x, int dim, std::int64_t start, std::int64_t end) {
  return append<L>(OpKind::slice, {x}, {.dim = dim, .start = start, .end = end})[0];
}

/// Mask by index. In a block use BlockBuilder::mask, which also takes the position of the tile.
inline Tensor mask(Tensor x, const Kept& kept, double value = Attributes{}.value, std::vector<std::int64_t> dims = {}) {
  return append<KernelLevel>(OpKind::mask, {x}, {.sizes = std::move(dims), .kept = kept, .value = value})[0];
}

/// With lengths, an int32 tensor that broadcasts to x: keys below the length are kept.
inline Tensor mask(Tensor x, Tensor lengths, const Kept& kept = {}, double value = Attributes{}.value,
                   std::vector<std::int64_t> dims = {}) {
  return append<KernelLevel>(OpKind::mask, {x, lengths}, {.sizes = std::move(dims), .kept = kept, .value = value})[0];
}

// Of two tensors, or of a tensor and a scalar.
template <class L> Handle<L> pow(Handle<L> x, Handle<L> y) { return append<L>(OpKind::pow, {x, y})[0]; }
template <class L> Handle<L> pow(Handle<L> x, double s) { return append<L>(OpKind::pow, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> operator+(Handle<L> x, Handle<L> y) { return append<L>(OpKind::add, {x, y})[0]; }
template <class L> Handle<L> operator+(Handle<L> x, double s) { return append<L>(OpKind::add, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> operator-(Handle<L> x, Handle<L> y) { return append<L>(OpKind::sub, {x, y})[0]; }
template <class L> Handle<L> operator-(Handle<L> x, double s) { return append<L>(OpKind::sub, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> operator/(Handle<L> x, Handle<L> y) { return append<L>(OpKind::div, {x, y})[0]; }
template <class L> Handle<L> operator/(Handle<L> x, double s) { return append<L>(OpKind::div, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> maximum(Handle<L> x, Handle<L> y) { return append<L>(OpKind::maximum, {x, y})[0]; }
template <class L> Handle<L> maximum(Handle<L> x, double s) { return append<L>(OpKind::maximum, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> minimum(Handle<L> x, Handle<L> y) { return append<L>(OpKind::minimum, {x, y})[0]; }
template <class L> Handle<L> minimum(Handle<L> x, double s) { return append<L>(OpKind::minimum, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> eq(Handle<L> x, Handle<L> y) { return append<L>(OpKind::eq, {x, y})[0]; }
template <class L> Handle<L> eq(Handle<L> x, double s) { return append<L>(OpKind::eq, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> ne(Handle<L> x, Handle<L> y) { return append<L>(OpKind::ne, {x, y})[0]; }
template <class L> Handle<L> ne(Handle<L> x, double s) { return append<L>(OpKind::ne, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> lt(Handle<L> x, Handle<L> y) { return append<L>(OpKind::lt, {x, y})[0]; }
template <class L> Handle<L> lt(Handle<L> x, double s) { return append<L>(OpKind::lt, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> le(Handle<L> x, Handle<L> y) { return append<L>(OpKind::le, {x, y})[0]; }
template <class L> Handle<L> le(Handle<L> x, double s) { return append<L>(OpKind::le, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> gt(Handle<L> x, Handle<L> y) { return append<L>(OpKind::gt, {x, y})[0]; }
template <class L> Handle<L> gt(Handle<L> x, double s) { return append<L>(OpKind::gt, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> ge(Handle<L> x, Handle<L> y) { return append<L>(OpKind::ge, {x, y})[0]; }
template <class L> Handle<L> ge(Handle<L> x, double s) { return append<L>(OpKind::ge, {x}, {.scalar = s})[0]; }
template <class L> Handle<L> operator*(Handle<L> x, Handle<L> y) { return append<L>(OpKind::mul, {x, y})[0]; }
template <class L> Handle<L> operator*(Handle<L> x, double s) { return mul_scalar(x, s); }
template <class L> Handle<L> operator*(double s, Handle<L> x) { return mul_scalar(x, s); }
template <class L> Handle<L> operator-(Handle<L> x) { return neg(x); }
/// x where the condition is not 0, else y.
template <class L> Handle<L> where(Handle<L> condition, Handle<L> x, Handle<L> y) {
  return append<L>(OpKind::where, {condition, x, y})[0];
}
template <class L> Handle<L> where(Handle<L> condition, Handle<L> x, double s) {
  return append<L>(OpKind::where, {condition, x}, {.scalar = s})[0];
}

/// Sums over `dim` down to `to` elements: y[j] = x[j] + x[j + to] + x[j + 2 to] + ...
template <class L> Handle<L> reduction(Handle<L> x, int dim, std::int64_t to = 1) {
  return append<L>(OpKind::reduction, {x}, {.dim = dim, .to = to})[0];
}
// Along one dimension or several.
template <class L> Handle<L> sum(Handle<L> x, int dim, bool keepdim = false) {
  return append<L>(OpKind::sum, {x}, {.dim = dim, .keepdim = keepdim})[0];
}
template <class L> Handle<L> sum(Handle<L> x, std::vector<std::int64_t> dims, bool keepdim = false) {
  return append<L>(OpKind::sum, {x}, {.sizes = std::move(dims), .keepdim = keepdim})[0];
}
template <class L> Handle<L> mean(Handle<L> x, int dim, bool keepdim = false) {
  return append<L>(OpKind::mean, {x}, {.dim = dim, .keepdim = keepdim})[0];
}
template <class L> Handle<L> mean(Handle<L> x, std::vector<std::int64_t> dims, bool keepdim = false) {
  return append<L>(OpKind::mean, {x}, {.sizes = std::move(dims), .keepdim = keepdim})[0];
}
template <class L> Handle<L> amax(Handle<L> x, int dim, bool keepdim = false) {
  return append<L>(OpKind::amax, {x}, {.dim = dim, .keepdim = keepdim})[0];
}
template <class L> Handle<L> amax(Handle<L> x, std::vector<std::int64_t> dims, bool keepdim = false) {
  return append<L>(OpKind::amax, {x}, {.sizes = std::move(dims), .keepdim = keepdim})[0];
}
template <class L> Handle<L> amin(Handle<L> x, int dim, bool keepdim = false) {
  return append<L>(OpKind::amin, {x}, {.dim = dim, .keepdim = keepdim})[0];
}
template <class L> Handle<L> amin(Handle<L> x, std::vector<std::int64_t> dims, bool keepdim = false) {
  return append<L>(OpKind::amin, {x}, {.sizes = std::move(dims), .keepdim = keepdim})[0];
}
template <class L> Handle<L> logsumexp(Handle<L> x, int dim, bool keepdim = false) {
  return append<L>(OpKind::logsumexp, {x}, {.dim = dim, .keepdim = keepdim})[0];
}
template <class L> Handle<L> logsumexp(Handle<L> x, std::vector<std::int64_t> dims, bool keepdim = false) {
  return append<L>(OpKind::logsumexp, {x}, {.sizes = std::move(dims), .keepdim = keepdim})[0];
}
template <class L> Handle<L> softmax(Handle<L> x, int dim) { return append<L>(OpKind::softmax, {x}, {.dim = dim})[0]; }
/// As torch._safe_softmax: 0 in rows that are entirely -inf.
template <class L> Handle<L> safe_softmax(Handle<L> x, int dim) {
  return append<L>(OpKind::safe_softmax, {x}, {.dim = dim})[0];
}
template <class L> Handle<L> log_softmax(Handle<L> x, int dim) {
  return append<L>(OpKind::log_softmax, {x}, {.dim = dim})[0];
}

/// Shape that a norm with this weight normalizes over; empty: the last dimension.
inline Shape lines_of(Shape weight) {
  while (weight.size() > 1 && weight.front() == 1) weight.erase(weight.begin());
  return weight.size() > 1 ? weight : Shape{};
}
// Normalizes over the last dimension, the trailing dimensions that `shape` has, or those of the weight.
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

/// The last dimension holds pairs, in two halves or interleaved; cos and sin broadcast.
template <class L> Handle<L> rotary(Handle<L> x, Handle<L> cos, Handle<L> sin) {
  return append<L>(OpKind::rotary, {x, cos, sin})[0];
}
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

// Gather and scatter of rows by index. Scatter exists at the kernel level only.
template <class L>
Handle<L> gather(Handle<L> x, Handle<L> numbers) {
  return append<L>(OpKind::gather, {x, numbers})[0];
}
inline Tensor scatter(Tensor x, Tensor numbers, Tensor updates) {
  return append<KernelLevel>(OpKind::scatter, {x, numbers, updates})[0];
}
inline Tensor slice_scatter(Tensor x, Tensor part, int dim, std::int64_t start) {
  return append<KernelLevel>(OpKind::slice_scatter, {x, part}, {.dim = dim, .start = start})[0];
}
inline Tensor slice_scatter(Tensor x, Tensor part, int dim, Tensor start) {
  return append<KernelLevel>(OpKind::slice_scatter, {x, part, start}, {.dim = dim})[0];
}

/// The running maximum along `dim`, and its change: old minus new.
inline std::pair<Tile, Tile> reduction_max(Tile x, int dim) {
  const std::vector<Tile> both = append<BlockLevel>(OpKind::reduction_max, {x}, {.dim = dim});
  return {both[0], both[1]};
}
inline Tile accum(Tile x) { return append<BlockLevel>(OpKind::accum, {x})[0]; }
inline Tile accum_red_sum(Tile x) { return append<BlockLevel>(OpKind::accum_red_sum, {x})[0]; }
inline Tile accum_red_mean(Tile x) { return append<BlockLevel>(OpKind::accum_red_mean, {x})[0]; }
inline Tile accum_red_rms(Tile x) { return append<BlockLevel>(OpKind::accum_red_rms, {x})[0]; }
inline Tile accum_redtox_sum(Tile x, std::int64_t to) {
  return append<BlockLevel>(OpKind::accum_redtox_sum, {x}, {.to = to})[0];
}
inline Tile accum_max(Tile x) { return append<BlockLevel>(OpKind::accum_max, {x})[0]; }
/// acc = acc * r + x in each iteration; the second form then sums the last dimension.
inline Tile accum_rescale(Tile x, Tile r) { return append<BlockLevel>(OpKind::accum_rescale, {x, r})[0]; }
inline Tile accum_red_sum_rescale(Tile x, Tile r) {
  return append<BlockLevel>(OpKind::accum_red_sum_rescale, {x, r})[0];
}

}  // namespace zellige::graph
