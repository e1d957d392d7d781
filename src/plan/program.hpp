// A block program: what one kernel computes, as nodes of the few kinds that the passes work on.
//
//   load ── map ── matmul ── map ── reduce ── ... ── store
//
// Every node yields one value. Shapes are those of one block's tile. Loads, and the `round` nodes before a
// matmul's operands, are in the storage type; everything else is float32, as the rounding contract says, or
// an integer.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "retile/tiling.hpp"

namespace zellige::plan {

using graph::DType;
using graph::OpKind;
using graph::Shape;
using graph::Strides;
using graph::to_string;

/// The number of tiles of size b that cover a.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

enum class NodeKind : std::uint8_t {
  load,   // a tile of a kernel-level tensor
  map,    // an elementwise function `op` of its operands; a dimension of 1 broadcasts
  round,  // its operand, rounded to the storage type
  // Over the last two dimensions, float32 accumulators; if carried, they are first multiplied by a third
  // operand.
  matmul,
  // y[.., j, ..] = sum or max over k of x[.., j + k * to, ..] along `dim`; `carried`: and over the loop.
  reduce,
  accumulate,    // over the loop: sum, max, or acc * in[1] + in[0]
  running_max,   // over the loop so far, this iteration included; starts at the lowest finite value
  running_diff,  // of a running_max: old minus new; 0 in the first iteration
  slice,         // x[.., start + i, ..] along `dim`
  concat,        // along `dim`
  rotate,        // rotates the pairs that are adjacent along `dim` by their cosines and sines: in[1], in[2]
  permute,  // dimension d is dimension order[d] of its operand, which is evaluated only where it is stored
  store,    // to a kernel-level tensor
};
std::string_view name(NodeKind);
/// The type in which a value is computed: float32, or int32 for integers.
constexpr DType kept_in(DType dtype) { return graph::is_integer(dtype) ? DType::int32 : DType::f32; }
/// Returns whether nodes of this kind are evaluated where they are read, and not stored.
inline bool inlined(NodeKind kind) {
  return kind == NodeKind::map || kind == NodeKind::slice || kind == NodeKind::concat ||
         kind == NodeKind::rotate || kind == NodeKind::permute;
}

enum class Section : std::uint8_t { before, inside, after };  // of the loop
std::string_view name(Section);

/// The split of one dimension of a kernel-level tensor into tiles: this block's tile starts at offset +
/// (((blockIdx[axis] / div) % mod) * (loop ? range : 1) + (loop ? iteration : 0)) * tile.
struct Split {
  int axis = -1;                  // 0, 1, 2; -1: every block starts at 0
  std::int64_t div = 1, mod = 0;  // mod 0: no modulo
  bool loop = false;
  std::int64_t tile = 1;    // extent of the tile
  std::int64_t extent = 1;  // of the tensor, from offset on; beyond it nothing is read or written
  std::int64_t offset = 0;
  bool overhang = false;  // the last tile may be partial
  bool of_part = false;   // `offset` is relative to the program's part_begin
  auto operator<=>(const Split&) const = default;
};

struct Node {
  NodeKind kind{};
  OpKind op{};  // map, reduce (reduction or reduction_max), accumulate
  std::vector<int> in;
  Shape shape;
  DType dtype = DType::f32;
  Section section = Section::inside;
  double scalar = 1, lo = 0, hi = 0;  // map
  bool tf32 = false;                  // matmul: operands are rounded to tf32
  DType to_dtype = DType::f32;        // map cast
  bool saturate = false;              // map cast
  // Reduce, slice, concat; load, store: the dimension of a gather or scatter.
  int dim = 0;
  std::int64_t to = 1;     // reduce; load, store with an index: the number of consecutive elements from it on
  std::int64_t start = 0;  // slice
  std::vector<int> order;  // permute
  graph::Kept kept;        // map mask: `dim` is i's, `key` j's; masked elements are `scalar`
  int key = 0;
  bool carried = false;  // reduce and matmul: also over the loop's iterations
  bool window = false;   // matmul: in[0] has the K of all iterations, each reads its part (precompute_a.hpp)
  int tensor = -1;       // load, store: index into KernelGraph::tensors
  std::vector<Split> splits;  // load, store and map mask: one per dimension
  std::string name;           // for humans
};

/// For a gathering load or scattering store, the operand with the integer indices along `dim`; -1: none. It
/// is read in place.
inline int number_of(const Node& n) {
  const std::size_t at = n.kind == NodeKind::load ? 0 : 1;
  const bool may = n.kind == NodeKind::load || n.kind == NodeKind::store;
  return may && at < n.in.size() ? n.in[at] : -1;
}

struct BlockProgram {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  // One launch runs several programs: the blocks of the first come first, and those of a program with this
  // flag follow those of the previous program (launches.hpp).
  bool same_launch = false;
  // Offset of the program's part of a concatenation. Programs that differ only in this and in their tensors
  // have the same source.
  std::int64_t part_begin = 0;
  std::vector<Node> nodes;  // in a topological order
  int threads() const { return static_cast<int>(block.count()); }
  int warps() const { return threads() / 32; }
  int add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
  }
  std::vector<int> consumers(int node) const;
};

/// A tensor in another tensor's memory. Its entry among the tensors has strides and extents from the base's
/// first element; its users see `shape`, beginning at `starts`.
struct TensorView {
  int base = -1;
  Shape shape, starts;
  int value = -1;   // the tensor whose value it shows: the base, or the one that overwrote the base's memory
  int number = -1;  // a tensor with one integer, the view's start along the first dimension; -1: none
};

/// A graph's tensors in device memory and its kernels in launch order.
struct Program {
  std::string name;
  // Strides of intermediates and of open outputs filled in by place().
  std::vector<graph::KernelTensor> tensors;
  std::vector<int> inputs, outputs;
  std::vector<BlockProgram> kernels;
  std::map<int, TensorView> views;  // by index into tensors (views.hpp)
  std::map<int, int> aligned;       // by tensor: its copy with aligned rows (align.hpp)
  retile::Tiling products;          // the tiles of unfused matmuls
  std::vector<std::string> notes;
  int memory_of(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensor : view->second.base;
  }
  int value_of(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensor : view->second.value;
  }
  /// The shape of a tensor as its users see it.
  const Shape& shape(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensors[tensor].shape : view->second.shape;
  }
  /// The coordinate at which that starts; empty: 0.
  Shape starts(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? Shape(tensors[tensor].shape.size(), 0) : view->second.starts;
  }
};

std::string print(const BlockProgram&, const Program&);

}  // namespace zellige::plan
