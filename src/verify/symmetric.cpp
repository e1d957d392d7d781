#include "verify/symmetric.hpp"

#include <set>

#include "graph/infer.hpp"
#include "verify/rank_order.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

using kernel::Kernel, kernel::SymmetricExchange;
using tile::Node, tile::NodeKind;

bool is_window(const SymmetricExchange& m, int tensor) {
  return std::ranges::find(m.windows, tensor) != m.windows.end();
}

/// Returns the loads of windows.
std::vector<int> window_loads(const Kernel& k) {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(k.program.nodes.size()); ++i)
    if (k.program.nodes[i].kind == NodeKind::load && is_window(*k.symmetric, k.program.nodes[i].tensor))
      all.push_back(i);
  return all;
}

/// Returns why the launch does not allow an exchange: all blocks must have one role, and one tile.
std::string refusal_of_launch(const Kernel& k, const tile::TilePrograms& p) {
  if (!p.sizes.empty()) return "sizes that are known at launch decide its tiles";
  if (k.cluster != 1 || k.blocks != 0 || k.agents.size() != 1 || k.program.same_launch)
    return "its blocks have several tiles, roles of warps, or programs, or are in clusters";
  if (k.programmatic) return "it may start before the kernel that makes what it publishes has ended";
  if (k.symmetric->ranks() < 2 || k.symmetric->ranks() > k.threads)
    return fmt::format("{} ranks; there are 2, and a thread for each", k.symmetric->ranks());
  return "";
}

/// Returns why the tensors of an exchange do not fit together.
std::string refusal_of_tensors(const Kernel& k, const tile::TilePrograms& p) {
  const SymmetricExchange& m = *k.symmetric;
  const graph::KernelTensor& x = p.tensors[m.published];
  const std::int64_t ranks = m.ranks(), blocks = k.program.grid.count(), elements = graph::size(x.shape);
  const auto is = [&](int t, graph::DType dtype, const graph::Shape& shape) {
    const graph::KernelTensor& found = p.tensors[t];
    return found.dtype == dtype && found.shape == shape && found.strides == graph::row_major(shape);
  };
  std::set<int> different(m.windows.begin(), m.windows.end());
  different.insert(m.flags.begin(), m.flags.end());
  different.insert({m.published, m.window, m.state});
  if (different.size() != m.windows.size() + m.flags.size() + 3) return "a tensor has two tasks";
  if (m.flags.size() != m.windows.size())
    return fmt::format("flags of {} ranks and windows of {}", m.flags.size(), m.windows.size());
  if (graph::bytes_of(1, x.dtype) * 8 < 16 || elements >= std::int64_t{1} << 30)
    return "what it publishes has elements of one byte, or 2^30 of them";
  for (int t : m.windows)
    if (!is(t, x.dtype, x.shape))
      return fmt::format("window {} is not of the published tensor's form", p.tensors[t].name);
  if (!is(m.published, x.dtype, x.shape) || !is(m.window, x.dtype, {2, half_window(x)}))
    return "the published tensor is contiguous, and its window has two halves";
  for (int t : m.flags)
    if (!is(t, graph::DType::int32, {ranks, blocks}))
      return fmt::format("flags {} are not one of each of {} ranks for each of {} blocks", p.tensors[t].name, ranks,
                         blocks);
  if (!is(m.state, graph::DType::int32, {1 + blocks})) return "the state is a number, and one for each block";
  return "";
}

/// Returns why blocks might read in a window what blocks of another number publish, or two publish the same.
std::string refusal_of_tiles(const Kernel& k) {
  const std::vector<int> loads = window_loads(k);
  if (loads.empty()) return "it reads no window";
  const Node& first = k.program.nodes[loads[0]];
  for (const int i : loads) {
    const Node& n = k.program.nodes[i];
    if (tile::number_of(n) >= 0 || k.uses_tma(i))
      return fmt::format("load %{} of a window has indices, or is by TMA", i);
    if (n.view != first.view) return fmt::format("loads %{} and %{} of windows have different tiles", loads[0], i);
  }
  if (first.view.tiles(k.program) != k.program.grid.count())
    return fmt::format("load %{}: {} blocks read {} tiles of a window", loads[0], k.program.grid.count(),
                       first.view.tiles(k.program));
  for (const Node& n : k.program.nodes) {
    const SymmetricExchange& m = *k.symmetric;
    const bool of_exchange = n.tensor == m.published || n.tensor == m.window || n.tensor == m.state ||
                             std::ranges::find(m.flags, n.tensor) != m.flags.end();
    if (tile::accesses(n) && (of_exchange || (n.kind == NodeKind::store && is_window(m, n.tensor))))
      return "it accesses a tensor of the exchange besides its loads of windows";
  }
  return "";
}

}  // namespace

int published_tile(const Kernel& k) { return window_loads(k).at(0); }

std::int64_t half_window(const graph::KernelTensor& published) {
  const std::int64_t line = 128 / graph::bytes_of(1, published.dtype);
  return (graph::size(published.shape) + line - 1) / line * line;
}

int published_vector(const Kernel& k, const tile::TilePrograms& p) {
  const Node& n = k.program.nodes[published_tile(k)];
  const graph::KernelTensor& x = p.tensors[k.symmetric->published];
  const int inner = n.view.rank() - 1;
  int vector = static_cast<int>(16 / graph::bytes_of(1, x.dtype));
  const auto divides = [&](std::int64_t v) {
    bool all = n.view.tile(inner) % v == 0 && n.view.alignment(inner) % v == 0 && !n.view.straddles_end(inner, v);
    for (int d = 0; d < inner; ++d) all = all && (x.shape[d] == 1 || x.strides[d] % v == 0);
    return all;
  };
  while (vector > 1 && !divides(vector)) vector /= 2;
  return vector;
}

std::string refusal_of_symmetric(const Kernel& k, const tile::TilePrograms& p) {
  if (!k.symmetric) return "";
  for (const std::string& why : {refusal_of_launch(k, p), refusal_of_tensors(k, p), refusal_of_tiles(k)})
    if (!why.empty()) return why;
  // Launches use two halves in turn: what holds of four of them in a row holds of all.
  return fault_in(acts_of_exchanges(std::min(k.symmetric->ranks(), 8), 4));
}

void verify_symmetric(const Kernel& k, const tile::TilePrograms& p) {
  if (const std::string why = refusal_of_symmetric(k, p); !why.empty()) reject(k, "exchange of ranks: {}", why);
}

}  // namespace zellige::verify
