// Defines tensor graphs as plain values: a kernel graph of operators on tensors in device memory. Custom
// operators (fused kernels) contain a block graph, which says what one thread block does with its tiles.
//
//   KernelGraph g = ...;                  // from the builder, Zellige's JSON, or the muGraph importer
//   validate(g);                          // throws Error with the operator, what was expected and what was found
//   for (const KernelOp& op : g.ops) ...  // operators in a topological order
//
// A kernel-level tensor is stored in device memory in its dtype. A block-level tensor is a tile of one thread
// block; the planner decides where it is stored, if at all. docs/reference/graph-ir.md and the reference
// (reference.hpp) define what a graph computes, rounding included.
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

/// Element types. e4m3 has no infinity, and one NaN of each sign; e5m2 is the upper half of an f16. e2m1 and e8m0 are the
/// elements and the scales of the OCP microscaling formats. Two elements of int4, uint4 or e2m1 are in a byte, the first one
/// in its lower half.
enum class DType : std::uint8_t {
  f16,
  bf16,
  f32,
  e4m3,
  e5m2,
  int8,
  int32,
  boolean,
  uint8,
  int16,
  int64,
  int4,
  uint4,
  e2m1,
  e8m0,
  f64
};
/// Size of an element, in bits.
int bits(DType);
/// Returns the size of `elements` adjacent elements in bytes; the last byte may be shared with other elements.
std::int64_t bytes_of(std::int64_t elements, DType);
/// Returns the number of elements in `bytes` bytes.
int elements_in(std::int64_t bytes, DType);
/// Returns the size of an element in bytes. Throws Fault if an element is no whole number of bytes: for code that
/// addresses single elements by bytes.
int whole_bytes(DType);
std::string_view name(DType);
std::vector<DType> all_dtypes();
constexpr bool is_integer(DType dtype) {
  using enum DType;
  return dtype == int8 || dtype == int32 || dtype == boolean || dtype == uint8 || dtype == int16 || dtype == int64 ||
         dtype == int4 || dtype == uint4;
}
/// Returns whether numbers of this dtype are stored, moved, compared, selected and cast, but not computed with: int32 and
/// int64 are the integers for arithmetic, and int8 is one for matmuls.
constexpr bool is_stored_only(DType dtype) {
  return dtype == DType::boolean || dtype == DType::uint8 || dtype == DType::int16;
}
/// Returns the floating-point type in which kernels compute with numbers of this type: f64 for f64, else f32.
constexpr DType computed_in(DType dtype) { return dtype == DType::f64 ? dtype : DType::f32; }
/// Returns whether storing a number that kernels have computed in floating point rounds it.
constexpr bool is_narrow(DType dtype) { return !is_integer(dtype) && dtype != computed_in(dtype); }
/// Returns whether the type is a float of 8 bits that products multiply.
constexpr bool is_float8(DType dtype) { return dtype == DType::e4m3 || dtype == DType::e5m2; }
/// Returns whether tensors of this type are weights alone: graphs view and cast them, and no operator has a result of it.
constexpr bool is_weight_only(DType dtype) {
  return dtype == DType::int4 || dtype == DType::uint4 || dtype == DType::e2m1 || dtype == DType::e8m0;
}

/// The operators of both levels. The table in ops.hpp says which level allows which operator.
enum class OpKind : std::uint8_t {
  input,
  output,
  custom,
  matmul,  // over the last two dimensions; an optional third operand is added
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
  log1p,  // log(1 + x)
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
  logaddexp,  // log(e^x + e^y)
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  where,
  reduction,      // sum along `dim`, down to `to` elements (1 keeps the dimension)
  reduction_max,  // block level; results: the new running maximum, and old minus new
  amax,           // maximum along `dim`
  prod,           // product along `dim`
  logsumexp,      // log of the sum of exponentials along `dim`
  // Composite operators; compose.hpp defines their steps.
  sum,
  mean,
  amin,
  softmax,
  safe_softmax,  // 0 in rows that are entirely -inf
  log_softmax,
  rms_norm,  // x / sqrt(mean of squares over the last dimension + eps)
  layer_norm,
  rotary,              // a pair is elements k and k + n/2 of the last dimension
  rotary_interleaved,  // a pair is elements 2k and 2k + 1
  concat,
  split,  // along `dim`
  // Gather and scatter of rows by index: rows.hpp.
  gather,
  scatter,
  slice_scatter,
  // Views: kernels read the operand's memory at other coordinates.
  permute,
  reshape,
  expand,
  slice,
  unfold,  // windows along `dim`: unfold.hpp
  mask,    // by index: kept.hpp
  // Collectives, between the ranks of a graph: collective.hpp.
  all_reduce,             // sum over the ranks
  all_reduce_max,         // maximum over the ranks
  all_gather,             // the ranks' tensors, one after another along `dim`
  reduce_scatter,         // this rank's part, along `dim`, of the sum over the ranks
  all_to_all,             // part r along sizes[0] goes to rank r; what comes is joined along sizes[1]
  broadcast,              // the tensor of rank `start`
  rank,                   // this rank's number
  accum,                  // accumulators: sum over the loop's iterations
  accum_red_sum,          // sum over iterations and the last dimension
  accum_red_mean,         // mean over iterations and the last dimension
  accum_red_rms,          // root mean square over iterations and the last dimension
  accum_redtox_sum,       // sum over iterations and over every to-th element of the last dimension
  accum_max,              // maximum over iterations
  accum_logsumexp,        // log of the sum of exponentials over iterations
  accum_rescale,          // acc = acc * r + x in each iteration
  accum_red_sum_rescale,  // ... then sum over the last dimension
};
std::string_view name(OpKind);

using Shape = std::vector<std::int64_t>;    // outermost dimension first
using Strides = std::vector<std::int64_t>;  // in elements; empty: chosen by the planner

/// A tensor in device memory: a graph's input, its output, or an intermediate.
struct KernelTensor {
  DType dtype = DType::f16;
  Shape shape;
  Strides strides;
  std::string name;
  int memory = -1;        // index of the input whose memory it shares (infer.hpp); -1: none
  bool constant = false;  // an input that no earlier work on the stream writes, such as a weight
};

/// A tile of one thread block. `after_loop`: it is computed once per block, after the loop.
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

/// Bounds of a mask by index. With (i, j) the element's indices along the mask's two dimensions, the element
/// is kept if it satisfies all bounds that are set. The names are PyTorch's: tril = 0 is a causal mask, tril
/// = 0 with triu = -1023 a sliding window of 1024.
struct Kept {
  std::optional<std::int64_t> tril;    // j - i <= tril
  std::optional<std::int64_t> triu;    // j - i >= triu
  std::optional<std::int64_t> length;  // j < length
  bool first = false;  // of a mask with an operand of indices: j >= its element, in place of j < its element
  bool operator==(const Kept&) const = default;
};

/// Attributes of an operator; each kind uses only some of them.
struct Attributes {
  double scalar = 1;      // mul_scalar; of most elementwise operators, in place of the last operand
  double lo = 0, hi = 0;  // clamp
  int dim = -1;           // the dimension along which the operator works; -1 if `sizes` lists several
  // reduction, accum_redtox_sum: how many elements remain; element j sums x[j], x[j + to], x[j + 2 to], ...
  std::int64_t to = 1;
  // - split: the size of each part along `dim`
  // - permute: the permutation of the dimensions
  // - reshape, expand: the result's shape
  // - mask: its dimensions i and j (empty: the last two)
  // - sum, mean, amax, prod, logsumexp, amin: the dimensions, if several
  // - rms_norm, layer_norm: the normalized shape (empty: the last dimension)
  // - all_to_all: the dimension that is split, the dimension along which parts are joined
  // - unfold: elements of a window, step between windows, dilation, zeros before and after the dimension
  // - input: the tensor's shape with padding, which reads as zeros; output: the stored shape without padding
  std::vector<std::int64_t> sizes{};
  bool keepdim = false;  // amax, prod, amin, sum, mean, logsumexp: reduced dimensions remain, with extent 1
  double eps = 0;        // rms_norm, layer_norm
  // slice: elements [start, end); slice_scatter: the first element; mask of a part of a tensor: the part's
  // first index j; broadcast: the rank that sends
  std::int64_t start = 0, end = 0;
  DType dtype = DType::f32;                                 // cast
  bool tf32 = false;                                        // matmul of f32: operands rounded to tf32
  bool saturate = false;                                    // cast: saturate at the largest number of `dtype`
  Kept kept{};                                              // mask
  double value = -std::numeric_limits<double>::infinity();  // mask: the value of masked elements
  bool operator==(const Attributes&) const = default;
};

/// An operator of a block graph.
struct BlockOp {
  OpKind kind{};
  std::vector<int> inputs, outputs;  // indices into BlockGraph::tensors
  Attributes attributes;
  int kernel_tensor = -1;  // input: index into KernelOp::inputs; output: into KernelOp::outputs
  // input, output and mask: the tensor dimension that grid axes x, y, z divide; -1: none
  std::array<int, 3> map{-1, -1, -1};
  // input and mask: the tensor dimension that the loop divides further; -1: none, loaded once before the loop
  int loop_dim = -1;
};

/// What one thread block of a custom operator does. The operators before the accumulators run in each loop
/// iteration, the others once, after the loop.
struct BlockGraph {
  Dim3 grid, block;
  std::int64_t loop = 1;
  std::vector<BlockTensor> tensors;
  std::vector<BlockOp> ops;  // in a topological order
};

/// An operator of a kernel graph; becomes one kernel, or a part of one after fusion.
struct KernelOp {
  OpKind kind{};
  std::vector<int> inputs, outputs;  // indices into KernelGraph::tensors
  Attributes attributes;
  std::shared_ptr<const BlockGraph> block;  // custom operators only
};

struct SymbolicSizes;  // sized_graph.hpp

/// A graph of operators on tensors in device memory.
struct KernelGraph {
  std::string name;
  std::vector<KernelTensor> tensors;
  std::vector<KernelOp> ops;         // without input and output operators, which `inputs` and `outputs` replace
  std::vector<int> inputs, outputs;  // indices into tensors, in the caller's order
  int ranks = 1;                     // processes that run the graph, each on tensors of its own: collective.hpp
  // Sizes that are known at launch only: the graph's integers are then those at their greatest values. Null: all are constants.
  std::shared_ptr<const SymbolicSizes> sizes{};
};

/// Returns the row-major strides of a shape, in elements.
Strides row_major(const Shape&);
std::int64_t size(const Shape&);
/// Returns the elements from the first of a tensor to its last, as its strides place them: 27 of (4, 3) with strides (8, 1),
/// as the last one is at 3 * 8 + 2. Preconditions: extents are at least 1, no stride is negative, and a stride for each
/// extent is there.
std::int64_t span(const Shape&, const Strides&);
/// Returns the coordinates of the element with this row-major index.
Shape coordinates(std::int64_t index, const Shape&);
std::string to_string(const Shape&);  // "(2, 4096)"

}  // namespace zellige::graph
