#include "selection/copies.hpp"

#include <algorithm>

#include "kernel/operand_loads.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"

namespace zellige::selection {
namespace {

/// Returns the target's widest cp.async for which fits(number of elements) is true. If there is none, returns the
/// widest ordinary access for which fits() and whole() are true, or a single element. whole(number of elements) says
/// whether the number divides the tile's rows: ordinary accesses, unlike cp.async, cannot be partial.
template <class Fits, class Whole>
kernel::CopyChoice first_copy(graph::DType dtype, const target::Target& target, Fits fits, Whole whole) {
  const int size = graph::whole_bytes(dtype);
  for (const Instruction* row : target::async_copies(target)) {
    const int bytes = row->c.bits / 8;
    if (bytes % size == 0 && fits(bytes / size)) return {bytes / size, bytes, row};
  }
  int bytes = target.access_bytes;
  while (bytes > size && !(fits(bytes / size) && whole(bytes / size))) bytes /= 2;
  return {bytes / size, bytes, nullptr};
}

/// Returns whether each access to `vector` neighbours along dimension `inner` of the tiles of a load or store begins at a multiple of
/// `vector` elements, by the strides of its tensor and the places of its tiles.
bool is_aligned(const tile::TilePrograms& program, const tile::Node& n, int inner, std::int64_t vector) {
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  if (tensor.strides[inner] != 1) return false;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t unit = d == inner ? 1 : tensor.strides[d];
    if (tile::number_of(n) >= 0 && d == n.dim && (d == inner || unit % vector != 0)) return false;
    if (n.view.alignment(d) * unit % vector != 0) return false;
    if (d != inner && n.view.tile(d) > 1 && unit % vector != 0) return false;
  }
  return true;
}

}  // namespace

kernel::CopyChoice single_copy(graph::DType dtype, const target::Target& target) {
  return first_copy(
      dtype, target, [](int elements) { return elements == 1; }, [](int) { return true; });
}

kernel::CopyChoice widest_copy(const tile::TilePrograms& program, const tile::Node& n, const target::Target& target) {
  const graph::KernelTensor& tensor = program.tensors[n.tensor];
  const int inner = innermost(program, n);
  const std::int64_t tile = n.view.tile(inner);
  return first_copy(
      tensor.dtype, target,
      [&](int elements) { return elements == 1 || (tile >= elements && is_aligned(program, n, inner, elements)); },
      [&](int elements) { return tile % elements == 0 && !n.view.straddles_end(inner, elements); });
}

kernel::CopyChoice anywhere(const kernel::CopyChoice& copy, const tile::TilePrograms& program, const tile::Node& n,
                            const target::Target& target) {
  const int size = graph::whole_bytes(n.dtype), elements = target.access_bytes / size, inner = innermost(program, n);
  const bool lines = program.tensors[n.tensor].strides[inner] == 1 && n.shape[inner] >= elements;
  if (copy.row || copy.vector > 1 || size > 2 || !lines) return copy;
  return {elements, target.access_bytes, nullptr, true};
}

kernel::Context copy_context(const graph::KernelTensor& tensor, const graph::Shape& padded, int inner,
                             const kernel::CopyChoice& copy, int threads) {
  std::vector<int> order = kernel::inner_first(padded, inner);
  std::stable_sort(order.begin() + 1, order.end(), [&](int a, int b) { return tensor.strides[a] < tensor.strides[b]; });
  return kernel::blocked_layout(padded, order, copy.vector, threads);
}

bool leaves_at_once(const Selection& selected, const tile::Node& store, const kernel::Context& accumulators,
                    int gmem_inner) {
  const bool wide = accumulators.row && accumulators.row->a.bits == 32;
  const bool sectors = wide || (graph::bits(store.dtype) == 32 && selected.any(&kernel::MatmulChoice::chained, true));
  return sectors && accumulators.inner() == gmem_inner;
}

graph::Shape operand_padding(const Selection& selected, int i) {
  const tile::TileProgram& p = selected.program;
  const tile::Node& n = p.nodes[i];
  const int last = static_cast<int>(n.shape.size()) - 1;
  graph::Shape padded = n.shape;
  for (int reader : p.consumers(i)) {
    if (p.nodes[reader].kind != tile::NodeKind::matmul) continue;
    const kernel::MatmulChoice& choice = selected.matmuls.at(reader);
    if (!choice.row) continue;
    for (int side = 0; side < 2; ++side) {
      if (p.nodes[reader].in[side] != i) continue;
      const int k = side == 0 ? last : last - 1;
      const int unit = kernel::operand_unit(choice);
      padded[k] = tile::ceil_div(padded[k], unit) * unit;
      padded[n.inner] = tile::ceil_div(padded[n.inner], unit) * unit;
    }
  }
  return padded;
}

}  // namespace zellige::selection
