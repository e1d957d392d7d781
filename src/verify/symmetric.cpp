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

/// Returns the loads of what is exchanged: windows or, in two shots, their totals. At the end: the stores of the window.
std::vector<int> exchanged_tiles(const Kernel& k) {
  const SymmetricExchange& m = *k.symmetric;
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(k.program.nodes.size()); ++i) {
    const Node& n = k.program.nodes[i];
    if (m.at_end() ? n.kind == NodeKind::store && n.tensor == m.window
                   : n.kind == NodeKind::load && (m.gathers       ? n.tensor == m.window
                                                  : m.two_shots() ? n.tensor == m.sum
                                                                  : is_window(m, n.tensor)))
      all.push_back(i);
  }
  return all;
}

/// Returns the threads of a block that exchange: all, or the first role of warps.
std::int64_t exchanging_threads(const Kernel& k) {
  return k.warp_specialized() ? 32 * k.agents.at(0).warps : k.threads;
}

/// Returns why the launch does not allow an exchange: all blocks must have one role, and one tile.
std::string refusal_of_launch(const Kernel& k, const tile::TilePrograms& p) {
  if (!p.sizes.empty() && (k.symmetric->scatters || k.symmetric->gathers || !p.strides.empty()))
    return "sizes that are known at launch decide its tiles";
  const bool roles = k.warp_specialized();
  if (k.cluster != 1 || k.blocks != 0 || (roles && !k.symmetric->at_end()) || k.program.same_launch)
    return "its blocks have several tiles, roles of warps, or programs, or are in clusters";
  if (roles && kernel::issuers(k, k.agents[0]) == 1) return "the first role of its warps has one thread";
  if (k.programmatic) return "it may start before the kernel that makes what it publishes has ended";
  if (k.symmetric->ranks() < 2 || k.symmetric->ranks() > exchanging_threads(k))
    return fmt::format("{} ranks; there are 2, and a thread for each", k.symmetric->ranks());
  return "";
}

/// Returns whether a tensor's elements lie one after another in memory, in some order of its dimensions.
bool is_contiguous(const graph::KernelTensor& t) { return graph::span(t.shape, t.strides) == graph::size(t.shape); }

/// Returns why the tensors of a gather do not fit together.
std::string refusal_of_gathered(const SymmetricExchange& m, const tile::TilePrograms& p, std::int64_t blocks) {
  const graph::KernelTensor &x = p.tensors[m.published], &all = p.tensors[m.window];
  const std::int64_t ranks = m.ranks(), elements = graph::size(x.shape);
  const auto is = [&](int t, graph::DType dtype, const graph::Shape& shape) {
    const graph::KernelTensor& found = p.tensors[t];
    return found.dtype == dtype && found.shape == shape && found.strides == graph::row_major(shape);
  };
  if (m.at_end() || m.two_shots() || m.scatters || m.maximum) return "rows are gathered at the start, and not added";
  if (x.shape.size() < 2 || graph::bytes_of(1, x.dtype) * 8 < 16 || 2 * ranks * elements >= std::int64_t{1} << 30)
    return "what it gathers has no rows, elements of one byte, or 2^29 of them";
  graph::Shape whole = x.shape;
  whole[0] *= ranks;
  graph::Shape strides = x.strides;  // a gap after the rows of a rank is allowed
  strides[0] = std::max(strides[0], all.strides[0]);
  if (!is(m.published, x.dtype, x.shape) || all.dtype != x.dtype || all.shape != whole || all.strides != strides)
    return "the gathered tensor is not that of all ranks, or not row-major";
  if (half_of_gathered(all) * 2 >= std::int64_t{1} << 30) return "what it gathers has 2^29 elements";
  for (const int t : m.windows)
    if (!is(t, x.dtype, {2, half_of_gathered(all)}))
      return fmt::format("window {} has not two halves of the gathered tensor", p.tensors[t].name);
  if (blocks % ranks != 0) return fmt::format("{} blocks for {} ranks", blocks, ranks);
  for (const int t : m.flags)
    if (!is(t, graph::DType::int32, {ranks, blocks / ranks}))
      return fmt::format("flags {} are not one of each of {} ranks for {} blocks", p.tensors[t].name, ranks,
                         blocks / ranks);
  return is(m.state, graph::DType::int32, {1 + blocks}) ? "" : "the state is a number, and one for each block";
}

/// Returns why the tensors of an exchange do not fit together.
std::string refusal_of_tensors(const Kernel& k, const tile::TilePrograms& p) {
  const SymmetricExchange& m = *k.symmetric;
  const graph::KernelTensor& x = p.tensors[m.at_end() ? m.window : m.published];
  const std::int64_t ranks = m.ranks(), blocks = k.program.grid.count(), elements = graph::size(x.shape);
  const auto is = [&](int t, graph::DType dtype, const graph::Shape& shape, const graph::Shape& strides) {
    const graph::KernelTensor& found = p.tensors[t];
    return found.dtype == dtype && found.shape == shape && found.strides == strides;
  };
  std::set<int> different(m.windows.begin(), m.windows.end());
  for (const auto* all : {&m.flags, &m.sums}) different.insert(all->begin(), all->end());
  std::size_t tasks = m.windows.size() + m.flags.size() + m.sums.size();
  for (const int t : {m.published, m.window, m.state, m.sum, m.result})
    if (t >= 0) different.insert(t), ++tasks;
  if (different.size() != tasks) return "a tensor has two tasks";
  if (m.flags.size() != m.windows.size() || (m.two_shots() && m.sums.size() != m.windows.size()))
    return fmt::format("flags of {} ranks, windows of {}, and sums of {}", m.flags.size(), m.windows.size(),
                       m.sums.size());
  if (m.gathers) return refusal_of_gathered(m, p, blocks);
  if (m.two_shots() != (m.sum >= 0)) return "sums are of all ranks, and this one";
  if (m.scatters && (!m.at_end() || m.two_shots() || elements % ranks != 0))
    return "ranks keep a part of the sums alone in one shot, at the end, if there are as many for each";
  if (graph::bytes_of(1, x.dtype) * 8 < 16 || elements >= std::int64_t{1} << 30)
    return "what it publishes has elements of one byte, or 2^30 of them";
  if (!is_contiguous(x)) return "the published tensor is contiguous";
  for (const auto* all : {&m.windows, &m.sums})
    for (int t : *all)
      if (!is(t, x.dtype, x.shape, x.strides))
        return fmt::format("window {} is not of the published tensor's form", p.tensors[t].name);
  if (m.sum >= 0 && !is(m.sum, x.dtype, x.shape, x.strides)) return "the sums are not of the published tensor's form";
  const graph::Shape whole = m.alternates() ? graph::Shape{2, half_window(x)} : x.shape;
  if (!m.at_end() && (x.strides != graph::row_major(x.shape) || !is(m.window, x.dtype, whole, graph::row_major(whole))))
    return m.alternates() ? "the published tensor is contiguous, and its window has two halves"
                          : "the window is not of the published tensor's form";
  if (m.at_end()) {
    const graph::KernelTensor& y = p.tensors[m.result];
    if (y.dtype != x.dtype || !is_contiguous(y) || graph::size(y.shape) != elements / (m.scatters ? ranks : 1))
      return "the result has other elements than the sums";
  }
  const graph::Shape flags{m.times() * ranks, blocks}, state{1 + blocks};
  for (int t : m.flags)
    if (!is(t, graph::DType::int32, flags, graph::row_major(flags)))
      return fmt::format("flags {} are not {} of each of {} ranks for each of {} blocks", p.tensors[t].name, m.times(),
                         ranks, blocks);
  if (!is(m.state, graph::DType::int32, state, graph::row_major(state)))
    return "the state is a number, and one for each block";
  return "";
}

/// Returns why a block of a gather might read rows of several ranks, or others than it waits for.
std::string refusal_of_rows(const Kernel& k, const tile::TilePrograms& p) {
  const SymmetricExchange& m = *k.symmetric;
  const std::vector<int> tiles = exchanged_tiles(k);
  if (tiles.empty()) return "it reads no gathered tensor";
  const std::int64_t rows = p.tensors[m.published].shape[0];
  const tile::Interval first = k.program.nodes[tiles[0]].view.along(0, k.program);
  for (const int i : tiles) {
    const Node& n = k.program.nodes[i];
    const tile::Interval here = n.view.along(0, k.program);
    if (tile::number_of(n) >= 0 || k.uses_tma(i) || n.unfolded)
      return fmt::format("load %{} of gathered rows has indices, or is by TMA", i);
    if (here.axis() < 0 || n.view.iterates(0) || n.view.origin(0) != 0 || here.of_part())
      return fmt::format("load %{} reads all gathered rows in each block", i);
    if (rows % n.view.tile(0) != 0)
      return fmt::format("load %{}: tiles of {} rows, and {} rows on each rank", i, n.view.tile(0), rows);
    if (here.tiles() * n.view.tile(0) != rows * m.ranks() || !here.numbered_as(first) ||
        n.view.tile(0) != k.program.nodes[tiles[0]].view.tile(0))
      return fmt::format("loads %{} and %{} of gathered rows have different tiles", tiles[0], i);
  }
  for (int i = 0; i < static_cast<int>(k.program.nodes.size()); ++i) {
    const Node& n = k.program.nodes[i];
    const auto is_one_of = [&](const std::vector<int>& all) { return std::ranges::find(all, n.tensor) != all.end(); };
    if (tile::accesses(n) && std::ranges::find(tiles, i) == tiles.end() &&
        (n.tensor == m.published || n.tensor == m.state || is_window(m, n.tensor) || is_one_of(m.flags)))
      return "it accesses a tensor of the exchange besides its loads of gathered rows";
  }
  return "";
}

/// Returns why blocks might read in a window what blocks of another number publish, or two publish the same.
std::string refusal_of_tiles(const Kernel& k) {
  const SymmetricExchange& m = *k.symmetric;
  const std::vector<int> tiles = exchanged_tiles(k);
  if (tiles.empty()) return m.at_end() ? "it stores no window" : "it reads no window";
  if (m.at_end() && tiles.size() > 1)
    return fmt::format("stores %{} and %{} are both of the window", tiles[0], tiles[1]);
  const Node& first = k.program.nodes[tiles[0]];
  for (const int i : tiles) {
    const Node& n = k.program.nodes[i];
    if (tile::number_of(n) >= 0 || (k.uses_tma(i) && !m.at_end()))
      return fmt::format("{} %{} of a window has indices, or is by TMA", m.at_end() ? "store" : "load", i);
    if (n.view != first.view) return fmt::format("loads %{} and %{} of windows have different tiles", tiles[0], i);
    if (m.at_end() && (n.view.iterates() || n.unfolded)) return fmt::format("store %{} is in the loop", i);
  }
  if (first.view.tiles(k.program) != k.program.grid.count())
    return fmt::format("%{}: {} blocks access {} tiles of a window", tiles[0], k.program.grid.count(),
                       first.view.tiles(k.program));
  // Blocks of a number have the same tile in all launches, whatever the sizes are: so none of another number has stored there.
  for (int d = 0; d < first.view.rank(); ++d) {
    const tile::Interval here = first.view.along(d, k.program);
    if (!here.counted()) continue;
    for (int other = 0; other < first.view.rank(); ++other)
      if (d > 0 || (other > 0 && first.view.along(other, k.program).axis() == here.axis()) || here.run() > 1)
        return fmt::format("%{}: a size decides which tile a block has", tiles[0]);
  }
  const auto is_one_of = [](const std::vector<int>& all, int t) { return std::ranges::find(all, t) != all.end(); };
  for (int i = 0; i < static_cast<int>(k.program.nodes.size()); ++i) {
    const Node& n = k.program.nodes[i];
    const bool of_exchange = n.tensor == m.published || n.tensor == m.window || n.tensor == m.state ||
                             n.tensor == m.sum || n.tensor == m.result || is_window(m, n.tensor) ||
                             is_one_of(m.flags, n.tensor) || is_one_of(m.sums, n.tensor);
    if (tile::accesses(n) && of_exchange && !is_one_of(tiles, i))
      return m.at_end() ? "it accesses a tensor of the exchange besides its store of the window"
                        : "it accesses a tensor of the exchange besides its loads of windows";
  }
  return "";
}

}  // namespace

int published_tile(const Kernel& k) { return exchanged_tiles(k).at(0); }

int neighbours_along(const graph::KernelTensor& t) {
  const int last = static_cast<int>(t.shape.size()) - 1;
  for (int d = last; d >= 0; --d)
    if (t.strides[d] == 1 && t.shape[d] > 1) return d;
  return last;
}

std::int64_t half_window(const graph::KernelTensor& published) {
  const std::int64_t line = 128 / graph::bytes_of(1, published.dtype);
  return (graph::size(published.shape) + line - 1) / line * line;
}

std::int64_t half_of_gathered(const graph::KernelTensor& all) {
  const std::int64_t line = 128 / graph::bytes_of(1, all.dtype);
  return (all.shape[0] * all.strides[0] + line - 1) / line * line;
}

GatheredRows gathered_rows(const Kernel& k, const tile::TilePrograms& p) {
  const SymmetricExchange& m = *k.symmetric;
  const tile::TileView& view = k.program.nodes[published_tile(k)].view;
  const tile::Interval rows = view.along(0, k.program);
  const graph::KernelTensor& x = p.tensors[m.published];
  GatheredRows g{.axis = rows.axis(), .run = rows.run(), .tiles = rows.tiles() / m.ranks()};
  g.same = k.program.grid.count() / rows.tiles();
  g.elements = view.tile(0) * x.strides[0];
  g.step = view.tile(0) * p.tensors[m.window].strides[0];
  g.vector = static_cast<int>(16 / graph::bytes_of(1, x.dtype));
  while (g.elements % g.vector != 0 || g.step % g.vector != 0) g.vector /= 2;
  return g;
}

int published_vector(const Kernel& k, const tile::TilePrograms& p) {
  const Node& n = k.program.nodes[published_tile(k)];
  const graph::KernelTensor& x = p.tensors[k.symmetric->windows[0]];
  const int inner = neighbours_along(x);
  int vector = static_cast<int>(16 / graph::bytes_of(1, x.dtype));
  const std::int64_t part = graph::size(x.shape) / (k.symmetric->scatters ? k.symmetric->ranks() : 1);
  const auto divides = [&](std::int64_t v) {
    bool all = n.view.tile(inner) % v == 0 && n.view.alignment(inner) % v == 0 && !n.view.straddles_end(inner, v);
    for (int d = 0; d < n.view.rank(); ++d)
      all = all && (d == inner ? x.strides[d] == 1 : x.shape[d] == 1 || x.strides[d] % v == 0);
    return all && (!k.symmetric->scatters || part % v == 0);
  };
  while (vector > 1 && !divides(vector)) vector /= 2;
  return vector;
}

std::string refusal_of_symmetric(const Kernel& k, const tile::TilePrograms& p) {
  if (!k.symmetric) return "";
  const SymmetricExchange& m = *k.symmetric;
  for (const std::string& why : {refusal_of_launch(k, p), m.gathers ? refusal_of_rows(k, p) : "",
                                 refusal_of_tensors(k, p), m.gathers ? "" : refusal_of_tiles(k)})
    if (!why.empty()) return why;
  if (m.gathers) {
    const int ranks = std::min(m.ranks(), 8);
    return fault_in(acts_of_gathers(ranks, 4), blocks_of_gather(ranks));
  }
  const ExchangeOrder order = m.two_shots() ? ExchangeOrder::two_shots
                              : m.at_end()  ? ExchangeOrder::readers_awaited
                                            : ExchangeOrder::two_halves;
  // Launches alternate between two halves, or do the same: what holds of four of them in a row holds of all.
  return fault_in(acts_of_exchanges(std::min(m.ranks(), 8), 4, order));
}

void verify_symmetric(const Kernel& k, const tile::TilePrograms& p) {
  if (const std::string why = refusal_of_symmetric(k, p); !why.empty()) reject(k, "exchange of ranks: {}", why);
}

}  // namespace zellige::verify
