#include "plan/product_tile.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "graph/refused.hpp"
#include "plan/estimate.hpp"

namespace zellige::plan {
namespace {

/// Returns the strides of `batch` matrices of rows x columns that are contiguous along the rows' elements, or along the
/// columns' if `across`. The other stride is such that lines begin at multiples of 16 bytes, or do not, as `lines` says.
Strides strides(const Shape& shape, bool across, bool lines, graph::DType dtype) {
  const std::size_t rank = shape.size();
  const std::int64_t length = shape[rank - (across ? 2 : 1)], count = shape[rank - (across ? 1 : 2)];
  const std::int64_t unit = graph::elements_in(chunk_bytes, dtype);
  const std::int64_t line = lines ? ceil_div(length, unit) * unit : length % unit == 0 ? length + 1 : length;
  Strides s(rank, line * count);
  s[rank - 1] = across ? line : 1, s[rank - 2] = across ? 1 : line;
  return s;
}

/// Returns a graph of one matmul of this size.
graph::KernelGraph product(const ProductSize& size) {
  graph::KernelGraph g;
  const auto shape = [&](bool batched, std::int64_t rows, std::int64_t columns) {
    Shape s{rows, columns};
    if (size.batch > 1) s.insert(s.begin(), batched ? size.batch : 1);
    return s;
  };
  const Shape a = shape(size.a_batched, size.m, size.k), b = shape(size.b_batched, size.k, size.n);
  g.name = "product";
  g.tensors = {{size.dtype, a, strides(a, !size.a_along_k, size.lines, size.dtype), "A"},
               {size.dtype, b, strides(b, size.b_along_k, size.lines, size.dtype), "B"},
               {size.dtype, {}, {}, "C"}};
  g.inputs = {0, 1}, g.outputs = {2};
  graph::KernelOp op{.kind = OpKind::matmul, .inputs = {0, 1}, .outputs = {2}};
  op.attributes.tf32 = size.tf32;
  g.ops.push_back(std::move(op));

  return graph::infer(std::move(g));
}

std::vector<retile::ProductTile> ranked(const ProductSize& size, const target::Target& target) {
  const graph::KernelGraph g = product(size);
  std::vector<std::pair<double, retile::ProductTile>> costed;
  std::vector<retile::ProductTile> legal = product_tiles(size, target), found;
  for (const retile::ProductTile& t : legal)
    refused([&] {  // a tile that does not fit the target
      costed.emplace_back(estimate_cost(sketch(g, target, {{.op = 0, .product = t}}), target).us, t);
    });
  std::ranges::stable_sort(costed, {}, &decltype(costed)::value_type::first);
  for (const auto& [us, t] : costed) found.push_back(t);
  return found.empty() ? legal : found;
}

}  // namespace

const std::vector<retile::ProductTile>& ranked_tiles(const ProductSize& size, const target::Target& target) {
  static std::mutex mutex;
  static std::map<std::pair<std::string_view, ProductSize>, std::vector<retile::ProductTile>> known;
  const std::pair<std::string_view, ProductSize> key{target.name, size};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<retile::ProductTile> tiles = ranked(size, target);
  const std::lock_guard lock(mutex);
  return known.emplace(key, std::move(tiles)).first->second;
}

Program lowered(const graph::KernelGraph& graph, const target::Target& target, const retile::Tiling& declared) {
  return lower(graph, target, declared, [&](const ProductSize& size) { return ranked_tiles(size, target).front(); });
}

}  // namespace zellige::plan
