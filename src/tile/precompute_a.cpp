// Computes the A operand of a matmul with at most 8 rows before the loop, for all of K at once, instead of in
// each iteration.
//
//   loop: S += bf16(x[it] g[it]) W[it], squares += x[it]^2
//
// Here `it` is the loop's iteration. The pass computes all of bf16(x g), the A operand, before the loop, and
// in each iteration the matmul reads the iteration's slice of K (Node::window). If each iteration computed its
// own slice, that would take a barrier per iteration and keep one warp busy while the other warps wait. Before
// the loop all threads take part, while the first stages of W are being loaded.
//
// The pass changes a matmul only under two conditions. The values that must be stored for all of K need at
// most 48 KB of shared memory, and at most a quarter of what a block can have. And every block is resident from
// the start: a block that starts later, when another ends, would delay its own loads by this computation.
#include <algorithm>
#include <optional>
#include <set>

#include "rules/table.hpp"
#include "target/target.hpp"
#include "tile/sections.hpp"

namespace zellige::tile {
namespace {

// Limit of the precomputed operand in bytes. A quarter of a block's shared memory is the limit as well, so that two
// operands fit next to the ring's stages.
constexpr std::int64_t max_bytes = 48 * 1024;
constexpr std::int64_t max_rows = 8;         // of A: the N extent of mma.sync, to which they are mapped
constexpr std::int64_t blocks_together = 2;  // blocks per multiprocessor that start at once

/// What moves before the loop together with the A operand of a matmul.
struct PrecomputedNodes {
  std::set<int> nodes;          // loads, maps and round nodes
  std::set<int> sums, readers;  // reductions along K over all iterations; matmuls
};

class PrecomputeA {
 public:
  PrecomputeA(TileProgram& p, std::int64_t maximum) : p_(p), max_(maximum), sections_(p) {}

  /// Returns whether an operand was moved.
  bool run() {
    bool moved = false;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const Node& n = p_.nodes[i];
      if (!reads_a_part(n)) continue;
      if (const auto made = made_with(n.in[0])) move(*made), moved = true;
    }
    return moved;
  }

 private:
  const Node& node(int i) const { return p_.nodes[i]; }

  /// Returns whether the node is a matmul of at most 8 rows whose A operand is evaluated in the loop, part by part of
  /// K.
  bool reads_a_part(const Node& n) const {
    if (n.kind != NodeKind::matmul) return false;
    const Node& a = node(n.in[0]);
    const bool halves = a.dtype == DType::f16 || a.dtype == DType::bf16;
    return n.carried && n.in.size() == 2 && a.kind == NodeKind::round && sections_.inside(n.in[0]) && halves &&
           a.shape.back() % 16 == 0 && graph::size(a.shape) / a.shape.back() <= max_rows;
  }

  /// Returns the operators that must move before the loop if the A operand `operand` does: all operators in
  /// the loop from which it is computed, or that are computed from the same tiles. Also returns the matmuls
  /// that read the operand, and reductions along K. Returns nullopt if one of the operators cannot be
  /// evaluated for all of K at once, or if the operators' stored values need more than `max_` bytes.
  std::optional<PrecomputedNodes> made_with(int operand) const {
    const std::int64_t k = node(operand).shape.back();
    PrecomputedNodes made;
    std::vector<int> open{operand};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (!made.nodes.insert(i).second) continue;
      if (!may_widen(i, k, node(operand).shape.size())) return std::nullopt;
      for (int in : node(i).in) {
        if (sections_.inside(in))
          open.push_back(in);
        else if (node(in).shape.back() != 1)
          return std::nullopt;
      }
      for (int reader : p_.consumers(i)) {
        const Node& r = node(reader);
        if (reads_a_part(r) && r.in[0] == i)
          made.readers.insert(reader);
        else if (r.kind == NodeKind::reduce && r.carried && r.to == 1 &&
                 r.dim + 1 == static_cast<int>(node(i).shape.size()))
          made.sums.insert(reader);
        else
          open.push_back(reader);
      }
    }
    std::int64_t bytes = 0;
    for (int i : made.nodes)
      if (!inlined(node(i).kind)) bytes += graph::bytes_of(graph::size(node(i).shape) * p_.loop, node(i).dtype);
    if (bytes > max_) return std::nullopt;
    for (int product : made.readers)
      if (made.nodes.contains(node(product).in[1])) return std::nullopt;
    return made;
  }

  /// Returns whether operator i can be evaluated for all of K at once. This requires that it has `rank`
  /// dimensions, and that the last dimension has the `k` elements of one iteration, so that it can be widened
  /// to the elements of all iterations in order.
  bool may_widen(int i, std::int64_t k, std::size_t rank) const {
    const Node& n = node(i);
    if (!sections_.inside(i) || n.shape.size() != rank || n.shape.back() != k) return false;
    if (n.kind == NodeKind::round) return true;
    if (n.kind == NodeKind::map) return n.view.empty();
    return n.kind == NodeKind::load && number_of(n) < 0 && n.view.cuts.back().loop &&
           std::ranges::count_if(n.view.cuts, &Cut::loop) == 1;
  }

  /// Widens the last dimension of the operators of `made` to all of K, so that they are evaluated before the loop.
  void move(const PrecomputedNodes& made) {
    for (int i : made.nodes) {
      Node& n = p_.nodes[i];
      n.shape.back() *= p_.loop;
      if (n.kind != NodeKind::load) continue;
      n.view.cuts.back().loop = false;
      n.view.cuts.back().tile *= p_.loop;
    }
    for (int i : made.sums) p_.nodes[i].carried = false;
    for (int i : made.readers) p_.nodes[i].window = true;
    sections_ = Sections(p_);
  }

  TileProgram& p_;
  std::int64_t max_;
  Sections sections_;
};

}  // namespace

bool precompute_a(TileProgram& p, const target::Target& target) {
  return p.loop > 1 && p.grid.count() <= blocks_together * target.multiprocessors &&
         PrecomputeA(p, std::min<std::int64_t>(max_bytes, target.shared_per_block / 4)).run();
}

}  // namespace zellige::tile
