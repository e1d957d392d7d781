// Tensor graphs as plain values: a kernel graph whose custom operators contain block graphs.
//
//   KernelGraph g = ...;                  // from the builder, our JSON, or the muGraph importer
//   validate(g);                          // throws Error: which operator of which graph, expected, found
//   for (const KernelOp& op : g.ops) ...  // operators in a topological order
//
// A kernel-level tensor is stored in device memory in its dtype. A block-level tensor is a tile of one thread
// block; the planner decides where it is stored, and whether at all. The meaning, rounding included, is
// defined by docs/reference/graph-ir.md and the reference (reference.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/error.hpp"

namespace zellige::graph {

/// e4m3 has no infinity, and one NaN of each sign; e5m2 is the upper half of an f16.
enum class DType : std::uint8_t { f16, bf16, f32, e4m3, e5m2, int8, int32 };
int bytes(DType);
std::string_view name(DType);
std::vector<DType> all_dtypes();
constexpr bool is_integer(DType dtype) { return dtype == DType::int8 || dtype == DType::int32; }

/// The operators of both levels; the table in ops.hpp lists which level admits which.
enum class OpKind : std::uint8_t {
  input,
  output,
  custom,
  matmul,  // over the last two dimensions; a third operand is added
  // Elementwise, in the order of the table in elementwise.hpp.
  exp,
  square,
  sqrt,
  mul_scalar,
  silu,
  sigmoid,
  gelu,
  gelu_tanh,
  relu,
  clamp,
  log,
  neg,
  abs,
  rsqrt,
  tanh,
  sin,
  cos,
  cast,  // to `dtype`
  add,
  sub,
  mul,
  div,
  pow,
  maximum,
  minimum,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  where,
  reduction,      // sum over `dim`, down to `to` elements (1 keeps the dimension)
  reduction_max,  // block: (new running maximum, old minus new)
  amax,           // maximum along `dim`
  // Composite operators; compose.hpp defines their steps.
  sum,
  mean,
  amin,
  softmax,
  safe_softmax,  // 0 where a row is -inf alone
  log_softmax,
  logsumexp,
  rms_norm,  // x / sqrt(mean of squares over the last dimension + eps)
  layer_norm,
  rotary,              // pairs in the two halves of the last dimension
  rotary_interleaved,  // interleaved pairs: pairs.hpp
  concat,
  split,  // along `dim`
  // Gather and scatter of rows by index: rows.hpp.
  gather,
  scatter,
  slice_scatter,
  // Views: kernels read their operand at other coordinates.
  permute,
  reshape,
  expand,
  slice,
  mask,   // by index: kept.hpp
  accum,  // sum over iterations
  accum_red_sum,
  accum_red_mean,
  accum_red_rms,     // ... then over the last dimension
  accum_redtox_sum,  // ... then the last dimension strided down to `to`
  accum_max,         // maximum over iterations
  accum_rescale,
  accum_red_sum_rescale,  // acc = acc * r + x; the second then sums the last dimension
};
std::string_view name(OpKind);

using Shape = std::vector<std::int64_t>;    // outermost dimension first
using Strides = std::vector<std::int64_t>;  // in elements; empty: selected by the planner

/// A tensor in device memory.
struct KernelTensor {
  DType dtype = DType::f16;
  Shape shape;
  Strides strides;
  std::string name;
  int memory = -1;        // the input whose memory it takes (in_place.hpp); -1: none
  bool constant = false;  // an input that no earlier work on the stream writes, such as a weight
};

/// A tile of a thread block. `after_loop`: computed after the accumulators, once per block.
struct BlockTensor {
  DType dtype = DType::f16;
  Shape shape;
  bool after_loop = false;
  std::string name;
};

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t count() const { return x * y * z; }
  std::int64_t operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  bool operator==(const Dim3&) const = default;
};

/// Bounds of a mask by index: element (i, j) along its two dimensions is kept if all the given bounds hold.
/// The names are torch's: tril 0 is causal, tril 0 with triu -1023 a sliding window of 1024.
struct Kept {
  std::optional<std::int64_t> tril;    // j - i <= tril
  std::optional<std::int64_t> triu;    // j - i >= triu
  std::optional<std::int64_t> length;  // j < length
  bool operator==(const Kept&) const = default;
};

/// Attributes of an operator; each kind reads only its own.
struct Attributes {
  double scalar = 1;      // mul_scalar, and in place of the last operand of most elementwise operators
  double lo = 0, hi = 0;  // clamp
  int dim = -1;           // the dimension of operators that work along one; -1 if `sizes` lists several
  // reduction, accum_redtox_sum: how many elements remain; element j sums j, j+to, j+2*to, ...
  std::int64_t to = 1;
  // split: the size of each part along `dim`; permute: the permutation of the dimensions; reshape, expand:
  // the result's shape; mask: its dimensions i and j (empty: the last two); sum, mean, amax, amin, logsumexp:
  // their dimensions if several; rms_norm, layer_norm: the normalized shape (empty: the last dimension)
  std::vector<std::int64_t> sizes{};
  bool keepdim = false;  // amax, amin, sum, mean, logsumexp: keep `dim` as 1
  double eps = 0;        // rms_norm, layer_norm
  // slice: elements [start, end); slice_scatter: the first element; mask of a part: its first j
  std::int64_t start = 0, end = 0;
  DType dtype = DType::f32;                                 // cast
  bool tf32 = false;                                        // matmul of f32: operands rounded to tf32
  bool saturate = false;                                    // cast: saturate at the largest number of `dtype`
  Kept kept{};                                              // mask
  double value = -std::numeric_limits<double>::infinity();  // mask: the value of masked elements
  bool operator==(const Attributes&) const = default;
};

struct BlockOp {
  OpKind kind{};
  std::vector<int> inputs, outputs;  // indices into BlockGraph::tensors
  Attributes attributes;
  int kernel_tensor = -1;  // input: index into KernelOp::inputs; output: into KernelOp::outputs
  // input, output and mask: the dimension that grid axis x, y, z splits; -1: none
  std::array<int, 3> map{-1, -1, -1};
  // input and mask: the dimension that the loop splits further; -1: loaded once, before the loop
  int loop_dim = -1;
};

/// Runs once per block; the operators before the accumulators run once per iteration.
struct BlockGraph {
  Dim3 grid, block;
  std::int64_t loop = 1;
  std::vector<BlockTensor> tensors;
  std::vector<BlockOp> ops;  // in a topological order
};

struct KernelOp {
  OpKind kind{};
  std::vector<int> inputs, outputs;  // indices into KernelGraph::tensors
  Attributes attributes;
  std::shared_ptr<const BlockGraph> block;  // custom operators only
};

struct KernelGraph {
  std::string name;
  std::vector<KernelTensor> tensors;
  std::vector<KernelOp> ops;  // without input and output operators, which `inputs` and `outputs` replace
  std::vector<int> inputs, outputs;  // indices into tensors, in the caller's order
};

/// Row-major strides of a shape.
Strides row_major(const Shape&);
std::int64_t size(const Shape&);
/// Coordinates of the element with this row-major index.
Shape coordinates(std::int64_t index, const Shape&);
std::string to_string(const Shape&);  // "(2, 4096)"

}  // namespace zellige::graph
