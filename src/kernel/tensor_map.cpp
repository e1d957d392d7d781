#include "kernel/tensor_map.hpp"

namespace zellige::kernel {
namespace {

constexpr std::int64_t unit = 16;      // bytes: TMA's unit of strides, row lengths and start addresses
constexpr std::int64_t max_box = 256;  // elements of a box along each dimension
constexpr int max_dimensions = 5;

/// Returns the work that copies the tile of the load or store `node`.
const Work& copy_of(const Kernel& kernel, int node) {
  const bool load = kernel.program.nodes[node].kind == tile::NodeKind::load;
  return *find_work(kernel, [&](const Work& w) {
    return w.node == node && w.kind == (load ? WorkKind::copy_in : WorkKind::to_global);
  });
}

}  // namespace

std::string no_tensor_map(const tile::Node& n, const graph::KernelTensor& tensor, int inner, std::int64_t span) {
  const int size = graph::whole_bytes(tensor.dtype), rank = static_cast<int>(n.shape.size());
  if (n.unfolded) return fmt::format("{} is windows, whose elements no box has", tensor.name);
  if (rank > max_dimensions)
    return fmt::format("{} has {} dimensions, TMA knows {}", tensor.name, rank, max_dimensions);
  if (tensor.strides[inner] != 1)
    return fmt::format("{}'s stride along dimension {} is {}, TMA's lines are contiguous", tensor.name, inner,
                       tensor.strides[inner]);
  // If the tile is the only one along its contiguous dimension, the row may be shorter than a span: the map
  // ends with the row, and TMA fills the rest of the box with zeros. It stores no part of a chunk.
  const bool only = n.view.fixed(inner) && n.view.origin(inner) >= 0;
  const std::int64_t whole = !only ? span : n.kind == tile::NodeKind::load ? size : unit;
  if (n.shape[inner] * size % whole != 0)
    return fmt::format("a line of {}'s tile has {} bytes, no multiple of {}", tensor.name, n.shape[inner] * size,
                       whole);
  if (const std::int64_t end = n.view.end_unit(inner) * size, last = tile::ceil_div(end, unit) * unit;
      n.kind == tile::NodeKind::store && last > end + n.view.room(inner) * size)
    return fmt::format("{}'s lines end at {} bytes, and TMA stores whole chunks of {}", tensor.name, end, unit);
  if (tile::number_of(n) >= 0) return fmt::format("a number says where {} begins", tensor.name);
  for (int d = 0; d < rank; ++d) {
    const std::int64_t bytes = tensor.strides[d] * size, origin = n.view.origin(d);
    if (d != inner && tensor.shape[d] > 1 && (bytes <= 0 || bytes % unit != 0))
      return fmt::format("{}'s stride along dimension {} is {} bytes, no multiple of {}", tensor.name, d, bytes, unit);
    if (d != inner && n.shape[d] > max_box)
      return fmt::format("{}'s tile has {} elements along dimension {}, a box of TMA at most {}", tensor.name,
                         n.shape[d], d, max_box);
    if (origin < 0 && origin % n.shape[d] != 0)
      return fmt::format("{} is a slice of what blocks leave, which begins at {} of tiles of {}", tensor.name, -origin,
                         n.shape[d]);
    if (const std::int64_t first = n.view.origin_unit(d) * size; d == inner && first % unit != 0)
      return fmt::format("{}'s tiles start at {} bytes of a line, no multiple of {}", tensor.name, first, unit);
  }
  return "";
}

std::int64_t boxes_of_block(const Kernel& kernel, const Work& copy) {
  const SmemTensor& b = kernel.tensors[copy.tensor];
  return copy.part == b.inner ? b.boxes() / kernel.cluster : b.boxes();
}

std::vector<tile::SymbolicNumber> tensor_map_extents(const Kernel& kernel, const tile::TilePrograms& program, int id) {
  const tile::Node& n = kernel.program.nodes[id];
  std::vector<tile::SymbolicNumber> all;
  for (const int d : inner_first(n.shape, kernel.tensors[copy_of(kernel, id).tensor].inner))
    all.push_back(n.view.along(d, kernel.program).end(program.sizes));
  return all;
}

std::vector<tile::SymbolicNumber> tensor_map_strides(const Kernel& kernel, const tile::TilePrograms& program, int id) {
  const tile::Node& n = kernel.program.nodes[id];
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  std::vector<tile::SymbolicNumber> all;
  for (const int d : inner_first(n.shape, kernel.tensors[copy_of(kernel, id).tensor].inner))
    all.push_back(tensor.shape[d] > 1 ? program.stride(n.tensor, d) * graph::whole_bytes(tensor.dtype) : unit);
  all[0] = graph::whole_bytes(tensor.dtype);
  return all;
}

TensorMap tensor_map(const Kernel& kernel, const tile::TilePrograms& program, int id) {
  const tile::Node& n = kernel.program.nodes[id];
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const Work& copy = copy_of(kernel, id);
  const SmemTensor& b = kernel.tensors[copy.tensor];
  const int size = graph::whole_bytes(tensor.dtype);
  TensorMap map{.tensor = n.tensor, .dtype = tensor.dtype, .extent = {}, .stride = {}, .box = {}};
  for (const int d : inner_first(n.shape, b.inner)) {
    map.extent.push_back(n.view.end(d));
    // TMA needs a valid stride for a dimension of one element as well, though it has no effect.
    map.stride.push_back(tensor.shape[d] > 1 ? tensor.strides[d] * size : unit);
    const bool split = copy.part == d && d != b.inner;
    map.box.push_back(d == b.inner ? b.box() : n.shape[d] / (split ? kernel.cluster : 1));
  }
  map.stride[0] = size;
  map.swizzle_bytes = b.span() > chunk_bytes ? static_cast<int>(b.span()) : 0;
  return map;
}

}  // namespace zellige::kernel
