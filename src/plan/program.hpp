// A block program: what one kernel computes, in the few kinds of node that the passes reason about.
//
//   load ── map ── matmul ── map ── reduce ── ... ── store
//
// Every node yields one value. Shapes are those of one block's tile. Loads, and the `round` nodes in front of a
// matmul's operands, are in the storage type; everything else is float32, as the rounding contract says, or an integer.
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

/// Tiles of b that cover a.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

enum class NodeKind : std::uint8_t {
  load,    // a tile of a kernel-level tensor
  map,     // an elementwise function `op` of its operands; a dimension of 1 broadcasts
  round,   // its operand in the storage type
  matmul,  // over the last two dimensions, float32 accumulators; carried, a third operand is what they are multiplied by first
  reduce,  // y[.., j, ..] = sum or max over k of x[.., j + k * to, ..] along `dim`; `carried`: and over the loop
  accumulate,    // over the loop: sum, max, or acc * in[1] + in[0]
  running_max,   // over the loop so far, this iteration included; starts at the lowest finite value
  running_diff,  // of a running_max: old minus new; 0 in the first iteration
  slice,         // x[.., start + i, ..] along `dim`
  concat,        // along `dim`
  rotate,        // pairs side by side along `dim`, by their cosines and sines: in[1], in[2]
  permute,  // dimension order[d] of its operand, which is evaluated nowhere else than where it is stored, at d
  store,    // to a kernel-level tensor
};
std::string_view name(NodeKind);
/// What a value of a node's dtype is kept in: float32, or int32 of integers.
constexpr DType kept_in(DType dtype) { return graph::is_integer(dtype) ? DType::int32 : DType::f32; }
/// Evaluated where it is read, and stored nowhere.
inline bool inlined(NodeKind kind) {
  return kind == NodeKind::map || kind == NodeKind::slice || kind == NodeKind::concat ||
         kind == NodeKind::rotate || kind == NodeKind::permute;
}

enum class Section : std::uint8_t { before, inside, after };  // of the loop
std::string_view name(Section);

/// How one dimension of a kernel-level tensor is cut into tiles: this block's tile starts at
/// offset + (((blockIdx[axis] / div) % mod) * (loop ? range : 1) + (loop ? iteration : 0)) * tile.
struct Split {
  int axis = -1;                  // 0, 1, 2; -1: every block starts at 0
  std::int64_t div = 1, mod = 0;  // mod 0: no remainder is taken
  bool loop = false;
  std::int64_t tile = 1;    // extent of the tile
  std::int64_t extent = 1;  // of the tensor, from offset: what lies past it is neither read nor written
  std::int64_t offset = 0;
  bool overhang = false;  // the last tile may pass `extent`
  bool of_part = false;   // `offset` counts from the program's part_begin
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
  bool tf32 = false;                  // matmul: of operands rounded to tf32
  DType to_dtype = DType::f32;        // map cast
  bool saturate = false;              // map cast
  int dim = 0;                        // reduce, slice, concat; load, store: along which the number says where
  std::int64_t to = 1;     // reduce; load, store with a number: how many elements it is the first of
  std::int64_t start = 0;  // slice
  std::vector<int> order;  // permute
  graph::Kept kept;        // map mask: `dim` is i's, `key` j's; `scalar` stands elsewhere
  int key = 0;
  bool carried = false;  // reduce and matmul: summed over the loop's iterations too
  bool window = false;  // matmul: in[0] has the K of all iterations, of which each reads its part (ahead.hpp)
  int tensor = -1;      // load, store: index into KernelGraph::tensors
  std::vector<Split> splits;  // load, store and map mask: one a dimension
  std::string name;           // for the reader of plan and kernel
};

/// Of a load or a store, the operand whose integers say where along `dim` it reads or writes; -1: none. It is read in place.
inline int number_of(const Node& n) {
  const std::size_t at = n.kind == NodeKind::load ? 0 : 1;
  const bool may = n.kind == NodeKind::load || n.kind == NodeKind::store;
  return may && at < n.in.size() ? n.in[at] : -1;
}

struct BlockProgram {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  // One launch runs several programs: the blocks of the first come first, and those of a program with this flag follow those of the
  // program in front of it (launches.hpp).
  bool same_launch = false;
  // Where the program's part of a concatenation begins. Programs that differ in this and in their tensors have one text.
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

/// A tensor that is the memory of another. Its entry among the tensors has strides and extents from the base's first element;
/// what readers see has `shape` and begins at `starts`.
struct TensorView {
  int base = -1;
  Shape shape, starts;
  int value = -1;  // the tensor whose value it shows: the base, or what has taken the base's memory
  int number =
      -1;  // the tensor of one integer, where there is one, that says where along the first dimension it begins
};

/// A graph's tensors in device memory and its kernels in launch order.
struct Program {
  std::string name;
  std::vector<graph::KernelTensor>
      tensors;  // strides of intermediates and of open outputs filled in by place()
  std::vector<int> inputs, outputs;
  std::vector<BlockProgram> kernels;
  std::map<int, TensorView> views;  // by index into tensors (views.hpp)
  std::map<int, int> aligned;       // of tensors their copies in aligned lines (align.hpp)
  retile::Tiling products;          // the tiles that plain products have got
  std::vector<std::string> notes;
  int memory_of(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensor : view->second.base;
  }
  int value_of(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensor : view->second.value;
  }
  /// What readers see of a tensor.
  const Shape& shape(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? tensors[tensor].shape : view->second.shape;
  }
  /// Where that starts along each dimension; empty: at 0.
  Shape starts(int tensor) const {
    const auto view = views.find(tensor);
    return view == views.end() ? Shape(tensors[tensor].shape.size(), 0) : view->second.starts;
  }
};

std::string print(const BlockProgram&, const Program&);

}  // namespace zellige::plan
