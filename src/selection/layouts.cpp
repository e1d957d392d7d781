#include "selection/layouts.hpp"

#include <algorithm>
#include <limits>

namespace zellige::selection {
namespace {

constexpr double forbidden = std::numeric_limits<double>::infinity();

/// A load, store or rounded matmul operand, and what its tile costs.
struct TileCosts {
  tile::Node* node;
  std::vector<double> each;  // by contiguous dimension
  double copies;             // if its tensor has another contiguous dimension: elements are then copied one by one

  /// Returns the contiguous dimension of least cost, and the cost, if that of the tensor is `inner`; -1: there is no tensor.
  std::pair<int, double> best(int inner) const {
    const auto cost = [&](int d) { return each[d] + (inner < 0 || inner == d ? 0 : copies); };
    int best = 0;
    for (int d = 1; d < static_cast<int>(each.size()); ++d)
      if (cost(d) < cost(best)) best = d;
    return {best, cost(best)};
  }
};

/// Returns for each node whether it yields weights of 4 bits or casts of 8 bits, or functions of them.
std::vector<bool> of_packed(const tile::TileProgram& p) {
  std::vector<bool> packed;
  for (const tile::Node& n : p.nodes) {
    const bool cast = n.kind == tile::NodeKind::map && n.op == graph::OpKind::cast;
    const bool passes = n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::round;
    packed.push_back(
        n.kind == tile::NodeKind::unpack || (cast && graph::bits(p.nodes[n.in[0]].dtype) == 8) ||
        (passes && std::ranges::any_of(n.in, [&](int in) { return in < std::ssize(packed) && packed[in]; })));
  }
  return packed;
}

/// Returns the costs of the tile of node `i`, which is `packed` or not (of_packed). Throws Error if the matmuls that read it leave no dimension.
TileCosts costs_of(const tile::TilePrograms& whole, Selection& kernel, const tile::Sections& sections, bool packed,
                   int i) {
  const tile::TileProgram& p = kernel.program;
  const graph::Shape& shape = p.nodes[i].shape;
  const double elements = static_cast<double>(graph::size(shape)) * static_cast<double>(p.grid.count()) *
                          static_cast<double>(sections.inside(i) ? p.loop : 1);
  // A contiguous dimension other than the last costs a sixteenth of an access per element, because accumulators and
  // blocked layouts are contiguous along the last dimension.
  std::vector<double> each(shape.size(), elements / 16);
  each.back() = 0;
  if (p.nodes[i].kind == tile::NodeKind::round && packed)  // across the bytes elements are read one by one
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) each[d] = lies_along(whole, p, i, d) ? 0 : elements;
  for (int reader : p.consumers(i)) {
    if (p.nodes[reader].kind != tile::NodeKind::matmul || !kernel.matmuls.at(reader).row) continue;
    for (int side = 0; side < 2; ++side)
      for (int d = 0; d < static_cast<int>(shape.size()) && p.nodes[reader].in[side] == i; ++d)
        if (d + 2 < static_cast<int>(shape.size()) || !kernel.matmuls.at(reader).may_lie(d == k_dimension(shape, side)))
          each[d] = forbidden;
  }
  if (std::ranges::count(each, forbidden) == std::ssize(each))
    fail("{}: no contiguous dimension of %{} suits all matmuls that read it", p.name, i);
  return {&kernel.program.nodes[i], std::move(each), elements};
}

/// Returns the contiguous dimension of an open tensor of `rank` dimensions with which its tiles cost least. Row-major is
/// preferred: any other contiguous dimension has a small cost.
int cheapest(int rank, const std::vector<TileCosts>& tiles) {
  const auto cost = [&](int inner) {
    double all = inner + 1 == rank ? 0 : 1;
    for (const TileCosts& t : tiles) all += t.best(inner).second;
    return all;
  };
  int best = 0;
  for (int d = 1; d < rank; ++d)
    if (cost(d) < cost(best)) best = d;
  return best;
}

/// Returns whether the stores of a kernel decide its time: a product that stores 1 MiB at least, and in each block a sixteenth
/// of what it loads. On an H200 of 300 random graphs, stores of 16 bytes made such products 1.1 to 3.2 times as fast. They made
/// others slower by up to a tenth: with 128 rows, where few threads have a chunk; with K of 6600, as the tile that TMA stores
/// takes the memory of a stage; elementwise ones, whose loads are narrow.
bool is_bound_by_stores(const tile::TileProgram& p, const tile::Node& store) {
  constexpr std::int64_t much = std::int64_t{1} << 20, times = 16;
  std::int64_t loaded = 0;
  bool multiplies = false;
  for (const tile::Node& n : p.nodes) {
    multiplies = multiplies || n.kind == tile::NodeKind::matmul;
    if (n.kind == tile::NodeKind::load)
      loaded += graph::bytes_of(graph::size(n.shape), n.dtype) * (n.view.iterates() ? p.loop : 1);
  }
  const std::int64_t tile = graph::bytes_of(graph::size(store.shape), store.dtype);
  return multiplies && tile * p.grid.count() >= much && tile * times >= loaded;
}

/// Lets a store of whole lines change the padding after them, unless the graph says where they lie: so it may write 16 bytes
/// at a time where a line ends within them.
void give_room(const tile::TilePrograms& program, const tile::TileProgram& p, tile::Node& store) {
  const int inner = innermost(program, store), memory = program.memory_of(store.tensor);
  const bool fixed = std::ranges::count(program.outputs, memory) > 0 && !program.open.contains(memory);
  // The bytes of tensors with sizes that are known at launch do not count the padding after the last line.
  if (fixed || !program.sizes.empty() || !is_bound_by_stores(p, store)) return;
  if (store.view.end(inner) == program.tensors[store.tensor].shape[inner] && store.view.origin(inner) >= 0)
    store.view.give_room(inner, program.line_padding(store.tensor, inner));
}

}  // namespace

int innermost(const graph::Shape& shape, const graph::Strides& strides) {
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d)
    if (shape[d] > 1 && strides[d] == 1) return d;
  return static_cast<int>(shape.size()) - 1;
}

int innermost(const tile::TilePrograms& program, const tile::Node& n) {
  return innermost(program.tensors[n.tensor].shape, program.tensors[n.tensor].strides);
}

bool lies_along(const tile::TilePrograms& program, const tile::TileProgram& p, int node, int dim) {
  std::map<int, bool> known;  // what several nodes read is asked once
  const auto asked = [&](const auto& self, int i) -> bool {
    const tile::Node& n = p.nodes[i];
    const bool open = n.kind == tile::NodeKind::load && program.tensors[n.tensor].strides.empty();
    if (n.kind == tile::NodeKind::load && !open) return innermost(program, n) == dim;
    if (n.kind == tile::NodeKind::unpack) return self(self, n.in[0]);
    if (const auto found = known.find(i); found != known.end()) return found->second;
    bool any = false, all = true;
    if (n.kind == tile::NodeKind::map || n.kind == tile::NodeKind::round)
      for (int in : n.in)
        if (p.nodes[in].shape == n.shape && p.nodes[in].kind != tile::NodeKind::repeat)
          any = true, all = all && self(self, in);
    return known[i] = any ? all : dim + 1 == std::ssize(n.shape);
  };
  return asked(asked, node);
}

graph::Strides padded_strides(const graph::Shape& shape, int inner, std::int64_t multiple) {
  int wide = 0;  // number of dimensions of extent > 1
  for (auto e : shape) wide += e > 1;
  graph::Strides strides(shape.size());
  std::int64_t next = 1;
  bool padded = wide < 2;  // a vector has nothing to align after it
  for (int d : kernel::inner_first(shape, inner)) {
    strides[d] = next;
    std::int64_t extent = shape[d];
    if (!padded && extent > 1) extent = (extent + multiple - 1) / multiple * multiple, padded = true;
    next *= extent;
  }
  return strides;
}

void resolve_layouts(tile::TilePrograms& program, std::vector<Selection>& kernels, const target::Target& target) {
  std::map<int, std::vector<TileCosts>> tiles;  // by tensor; -1: rounded operands
  for (Selection& kernel : kernels) {
    const tile::Sections sections(kernel.program);
    const std::vector<bool> packed = of_packed(kernel.program);
    for (int i = 0; i < static_cast<int>(kernel.program.nodes.size()); ++i)
      if (const tile::Node& n = kernel.program.nodes[i]; tile::accesses(n) || n.kind == tile::NodeKind::round)
        tiles[n.tensor].push_back(costs_of(program, kernel, sections, packed[i], i));
  }
  for (const TileCosts& operand : tiles[-1]) operand.node->inner = operand.best(-1).first;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    graph::KernelTensor& tensor = program.tensors[t];
    const std::vector<TileCosts>& of = tiles[static_cast<int>(t)];
    const bool open = tensor.strides.empty();
    const int inner =
        open ? cheapest(static_cast<int>(tensor.shape.size()), of) : innermost(tensor.shape, tensor.strides);
    if (open)
      tensor.strides = padded_strides(tensor.shape, inner, graph::elements_in(target.access_bytes, tensor.dtype));
    for (const TileCosts& tile : of) tile.node->inner = tile.best(inner).first;
  }
  for (Selection& kernel : kernels)
    for (tile::Node& n : kernel.program.nodes)
      if (n.kind == tile::NodeKind::store) give_room(program, kernel.program, n);
}

}  // namespace zellige::selection
