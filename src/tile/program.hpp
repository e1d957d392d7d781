// A tile program: what one kernel computes, as a list of nodes (operators on one block's tiles) of the few
// kinds that the planner's passes work on.
//
//   load ── map ── matmul ── map ── reduce ── ... ── store
//
// Every node yields one value, whose shape is that of one block's tile. Loads, and the `round` nodes before
// a matmul's operands, have the storage type (such as f16). Everything else is float32, float64 or an integer.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "retile/tiling.hpp"
#include "tile/view.hpp"
#include "tile/windows.hpp"

namespace zellige::tile {

using graph::DType;
using graph::OpKind;
using graph::Strides;
using graph::to_string;

/// The kinds of nodes. "Over the loop" means that the value of all iterations is combined.
enum class NodeKind : std::uint8_t {
  load,   // a tile of a tensor in global memory
  map,    // an elementwise function `op` of its operands; a dimension of 1 broadcasts
  round,  // its operand, rounded to the storage type
  // Matrix product over the last two dimensions, with float32 accumulators. If `carried`, it accumulates
  // over the loop; a third operand, if any, multiplies the accumulators first.
  matmul,
  // y[.., j, ..] = sum or max over k of x[.., j + k * to, ..] along `dim`. If `carried`, also over the loop.
  reduce,
  accumulate,    // over the loop: sum, max, or state * in[1] + in[0]
  running_max,   // max over the iterations so far, this one included; starts at the lowest finite value
  running_diff,  // old minus new value of a running_max; 0 in the first iteration
  slice,         // x[.., start + i, ..] along `dim`
  concat,        // concatenates its operands along `dim`
  rotate,        // rotates pairs of neighbours along `dim` by an angle whose cosine is in[1] and sine in[2]
  unpack,        // elements of `to_dtype`, of which bytes have several along `dim`: in[0] has the bytes
  repeat,        // element [.., j, ..] is in[.., j / to, ..] along `dim`
  permute,       // dimension d is dimension order[d] of the operand; evaluated only where it is stored
  store,         // writes a tile to a tensor in global memory
};
std::string_view name(NodeKind);
/// Returns the type in which a value is computed: int64 for int64, int32 for other integers, f64 for f64, else float32.
constexpr DType kept_in(DType dtype) {
  if (graph::is_integer(dtype)) return dtype == DType::int64 ? dtype : DType::int32;
  return graph::computed_in(dtype);
}
/// Returns whether the value of a node of this kind is, by default, not stored, but evaluated by each of its readers.
inline bool inlined(NodeKind kind) {
  return kind == NodeKind::map || kind == NodeKind::slice || kind == NodeKind::concat || kind == NodeKind::rotate ||
         kind == NodeKind::permute || kind == NodeKind::unpack || kind == NodeKind::repeat;
}

/// One operator of a tile program. Which fields a kind uses is stated with each field.
struct Node {
  NodeKind kind{};
  OpKind op{};          // map, reduce (reduction or reduction_max), accumulate
  std::vector<int> in;  // operands: indices of earlier nodes
  Shape shape;          // of one block's tile, which has graph::size(shape) elements
  DType dtype = DType::f32;
  double scalar = 1, lo = 0, hi = 0;  // map
  bool tf32 = false;                  // matmul: operands are rounded to tf32
  DType to_dtype = DType::f32;        // map cast, unpack
  bool saturate = false;              // map cast
  // reduce, slice, concat, rotate, unpack, repeat: the dimension; load, store: the dimension of a gather or scatter.
  int dim = 0;
  // reduce, repeat: see NodeKind; load, store with an index: number of consecutive elements from the index on.
  std::int64_t to = 1;
  // load with an index: rows of a page; 0: none. The index has an element for each page of the sequence that the load sees along
  // `dim`: row j is row j % page of page number j / page, whose rows begin at that element times `page_step`.
  std::int64_t page = 0, page_step = 0;
  std::int64_t start = 0;  // slice
  std::vector<int> order;  // permute
  // Map mask: which (i, j) are kept; `dim` is the dimension of i, `key` that of j; others become `scalar`.
  graph::Kept kept;
  int key = 0;
  // Map mask: the sizes of the program whose largest values kept.tril, kept.triu and kept.length have; -1: constants.
  int tril_size = -1, triu_size = -1, length_size = -1;
  int count_size =
      -1;  // map mul_scalar: `scalar` is 1 / (the largest value of this size times a constant); -1: a constant
  bool carried = false;  // reduce, matmul: also over the loop's iterations
  // matmul: in[0] has the K of all iterations, each iteration reads its part (precompute_a.cpp).
  bool window = false;
  bool unfolded = false;  // load: its tensor is Windows, of which some elements may be padding
  int tensor = -1;        // load, store: index into TilePrograms::tensors
  TileView view;          // load, store and map mask; of others empty
  int inner = -1;         // load, round, store: the dimension of stride 1 of its tile; -1: not yet resolved
  std::string name;       // only for messages and printed plans
};

/// Returns whether the node reads or writes global memory.
inline bool accesses(const Node& n) { return n.kind == NodeKind::load || n.kind == NodeKind::store; }
/// Returns the operand (a node) that has the integer indices along Node::dim, if the node is a gathering load
/// or a scattering store. Returns -1 if it is neither. The indices are read directly from global memory.
inline int number_of(const Node& n) {
  const std::size_t at = n.kind == NodeKind::load ? 0 : 1;
  return accesses(n) && at < n.in.size() ? n.in[at] : -1;
}

/// What one kernel computes, with its grid and loop.
struct TileProgram {
  std::string name;
  graph::Dim3 grid, block;
  std::int64_t loop = 1;  // number of iterations
  // The kernel is launched together with the preceding program of the list, as one grid: its blocks come
  // after those of that program (launches.hpp).
  bool same_launch = false;
  // If the program writes a part of a concatenation: the part's offset. Programs that differ only in this
  // and in their tensors have the same source.
  std::int64_t part_begin = 0;
  std::vector<Node> nodes;  // in a topological order
  int threads() const { return static_cast<int>(block.count()); }
  int warps() const { return threads() / 32; }
  int add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
  }
  /// Replaces all nodes, in order: add(i, node) gets node i with its operands as they are numbered now, adds what
  /// replaces it, and returns the number of that.
  template <class Add>
  void rebuild(const Add& add) {
    std::vector<Node> old = std::exchange(nodes, {});
    std::vector<int> now;
    for (std::size_t i = 0; i < old.size(); ++i) {
      for (int& in : old[i].in) in = now[in];
      now.push_back(add(i, std::move(old[i])));
    }
  }
  /// Calls visit(node) for the nodes `open` and, where it returns true, for the node's operands; once for each node.
  template <class Visit>
  void visit_from(std::vector<int> open, const Visit& visit) const {
    std::vector<bool> seen(nodes.size());
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      if (seen[node]) continue;
      seen[node] = true;
      if (visit(node)) open.insert(open.end(), nodes[node].in.begin(), nodes[node].in.end());
    }
  }
  /// Returns the nodes that have `node` as an operand, in order.
  std::vector<int> consumers(int node) const;
  /// Returns by node whether a store depends on it.
  std::vector<bool> needed() const;
  /// Returns the extents of the grid, which sizes of the program may decide: `grid` has the largest ones.
  std::vector<SymbolicNumber> grid_of(const SizeList&) const;
  /// Returns the number of iterations, which a size of the program may decide: `loop` is the largest one.
  SymbolicNumber iterations(const SizeList&) const;
  /// Returns whether a size decides the number of iterations. Blocks run at least one.
  bool has_sized_loop() const;
};

/// A tensor that is in the memory of another tensor, its base (views.hpp). Its entry in TilePrograms::tensors has strides
/// and extents that begin at the base's first element; its users see `shape`, beginning at coordinate `starts`.
struct TensorView {
  int base = -1;
  Shape shape, starts;
  // The tensor that has the view's value: the base, or the tensor that overwrote a part of the base.
  int value = -1;
  int number = -1;  // a tensor with one integer, the view's start along the first dimension; -1: none
  std::map<int, int> start_sizes = {};  // by dimension: the size whose largest value the start is
  // Where the elements are, if no strides say so. The strides of the tensor's entry are then Windows::units().
  std::optional<Windows> windows = {};
};

/// A tensor of the graph that is in no memory of its own: pages of a cache, in the order that a table has them (lower/pages.hpp).
struct PagedTensor {
  /// A digit of the coordinate along a dimension of the cache or table: the coordinate / below % extent.
  struct PageDigit {
    int dim = -1;  // -1: none
    std::int64_t extent = 1, below = 1;
    bool operator==(const PageDigit&) const = default;
  };
  int cache = -1, table = -1;                 // tensors; pages are numbered along dimension 0 of the cache
  int dim = -1;                               // the dimension that joins a digit of the table's and the rows of a page
  std::vector<PageDigit> of_cache, of_table;  // by dimension: what it is; none of both if its extent is 1
};

/// The tensors of a graph in device memory, and its kernels in launch order.
struct TilePrograms {
  std::string name;
  // place() sets the strides of intermediate tensors and of outputs whose layout is open.
  std::vector<graph::KernelTensor> tensors;
  std::vector<int> inputs, outputs;
  SizeList sizes;  // known at launch (lower/sizes.hpp); the numbers elsewhere are for the largest
  std::map<int, std::vector<SymbolicNumber>> strides;  // by tensor: those that depend on sizes
  std::vector<TileProgram> kernels;
  std::map<int, TensorView> views;   // by index into tensors (views.hpp)
  std::set<int> open;                // tensors of the graph whose strides the planner chooses
  std::map<int, PagedTensor> paged;  // by tensor: those that custom operators read in pages
  std::map<int, int> aligned;        // by tensor: its copy with padded, aligned rows (align.hpp)
  retile::Tiling products;           // the tiles of standalone matmuls
  std::vector<std::string> notes;
  /// Returns a load or store of `tensor` that has the tiles of `view`, without operands.
  Node access(NodeKind, int tensor, TileView view) const;
  /// Returns the extent of a tensor in device memory along a dimension: a constant, or a size.
  SymbolicNumber extent(int tensor, int dim) const;
  /// Returns where a view begins along a dimension: a constant, or a size; 0 of a tensor that is no view.
  SymbolicNumber start(int tensor, int dim) const;
  /// Returns a stride of a tensor, which has strides: a constant, or a number that depends on sizes.
  SymbolicNumber stride(int tensor, int dim) const;
  /// Returns the largest number that is known to divide a stride of a tensor for all values of the sizes: the stride, if it is a constant.
  std::int64_t stride_unit(int tensor, int dim) const {
    return strides.empty() ? tensors[tensor].strides[dim] : stride(tensor, dim).divisor();
  }
  /// Returns the tensor with stride_unit() for strides that depend on sizes: what is aligned there is so for all values.
  graph::KernelTensor minimally_aligned(int tensor) const;
  /// Returns the view that `tensor` is; nullptr if it has memory of its own.
  const TensorView* view(int tensor) const {
    const auto found = views.find(tensor);
    return found == views.end() ? nullptr : &found->second;
  }
  /// Returns the number of elements after each line of the tensor's memory that belong to no element of it: the room that
  /// a store to all of a line has along dimension `dim`. It is 0 in memory of inputs, where the tensor is a view of parts of
  /// lines, and along other dimensions than the contiguous one.
  std::int64_t line_padding(int tensor, int dim) const;
  /// Returns the windows that `tensor` is; nullptr if its elements are where its strides say.
  const Windows* windows(int tensor) const {
    return view(tensor) && view(tensor)->windows ? &*view(tensor)->windows : nullptr;
  }
  /// Returns the tensor that owns the memory of `tensor`: the base if `tensor` is a view, otherwise `tensor` itself.
  int memory_of(int tensor) const { return view(tensor) ? view(tensor)->base : tensor; }
  /// Returns the tensor whose value the users of `tensor` read: `tensor` itself unless it is a view.
  int value_of(int tensor) const { return view(tensor) ? view(tensor)->value : tensor; }
  /// Returns the shape that the users of `tensor` see: that of its memory unless it is a view.
  const Shape& shape(int tensor) const { return view(tensor) ? view(tensor)->shape : tensors[tensor].shape; }
  /// Returns the coordinate, within the extents of the tensor's entry in `tensors`, of the first element that
  /// the tensor's users see: all zeros unless the tensor is a view.
  Shape starts(int tensor) const {
    return view(tensor) ? view(tensor)->starts : Shape(tensors[tensor].shape.size(), 0);
  }
};

/// Undoes share() of the table of rewrites for the largest values that it stored, so that their users recompute them. The nodes (operators) keep
/// their numbers, and unused nodes remain. Returns false if share() has stored no value.
bool unshare(TileProgram&);

}  // namespace zellige::tile
