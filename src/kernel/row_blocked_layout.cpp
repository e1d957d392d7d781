#include "kernel/row_blocked_layout.hpp"

#include <algorithm>

#include "kernel/leaves.hpp"
#include "target/target.hpp"

namespace zellige::kernel {

bool is_scattered(int lanes, std::int64_t chunks, int bytes) {
  return lanes * bytes < 2 * target::sector_bytes && lanes < chunks;
}

std::optional<Context> row_blocked_layout(const Shape& domain, int inner, int vector, int bytes, int threads) {
  Summation s;
  s.domain = s.sums = domain;
  s.sums[inner] = 1;
  s.dim = inner, s.length = domain[inner], s.vector = vector;
  // lines: number of rows of the tile; chunks: number of chunks of `vector` elements per row.
  const std::int64_t lines = graph::size(s.sums), chunks = s.length / vector;
  if (lines == 1 || s.length % vector != 0) return {};
  using Steps = std::pair<std::int64_t, std::int64_t>;  // in total, and from row to row
  std::optional<Steps> best;
  for (int along = 1; along <= threads; along *= 2) {  // threads per row
    if (is_scattered(along, chunks, vector * bytes) || threads % along != 0) continue;
    const std::int64_t rounds = tile::ceil_div(lines, threads / along);
    const Steps steps{tile::ceil_div(chunks, along) * rounds, rounds};
    if (best && *best <= steps) continue;
    best = steps;
    s.lanes = std::min(along, target::warp_threads), s.splits = along / s.lanes, s.groups = threads / along;
  }
  const std::int64_t dealt = tile::ceil_div(lines * chunks, threads);
  if (!best || 8 * best->first > 9 * dealt) return {};
  return summands(s);
}

Context store_blocked_layout(const tile::TileProgram& p, const tile::Node& store, int inner, int vector) {
  while (vector > 1 && store.shape[inner] % vector != 0) vector /= 2;
  const bool of_lines = std::ranges::any_of(leaves(p, store.in[0], store.shape), [&](const Leaf& leaf) {
    const Shape& s = p.nodes[leaf.node].shape;
    return s.size() == store.shape.size() && s[inner] == 1 && graph::size(s) > 1;
  });
  if (of_lines)
    if (auto lines = row_blocked_layout(store.shape, inner, vector, graph::whole_bytes(store.dtype), p.threads()))
      return std::move(*lines);
  return blocked_layout(store.shape, inner, vector, p.threads());
}

}  // namespace zellige::kernel
