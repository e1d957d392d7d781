// Decides which elementwise values are stored in shared memory because they would otherwise be recomputed too often.
//
// By default, elementwise operators are evaluated where they are read (group.hpp), which suits the few operators around
// a matmul. But each norm of a chain of norms would repeat the whole beginning of the chain. A value that slices and
// concatenations read at shifted coordinates would be evaluated once per shift, and the number of shifts doubles with
// every level of such operators. So share() adds a `round` to float32 (or to int32 for integers) after some operators.
// It leaves the values unchanged, but the result of a `round` is always stored. An operator gets one if
//
// - one evaluation needs the operator at more than 16 (max_coordinates) different coordinates or shifts, or
// - one task (such as a store) would evaluate again more than 24 (max_repeats) operators, because tasks between
//   other barriers or with another shape evaluate them as well. The results of the last of these operators are
//   then stored.
//
// The size of the source then grows linearly with the number of operators.
#include <algorithm>
#include <set>
#include <tuple>

#include "rules/table.hpp"
#include "tile/sections.hpp"

namespace zellige::tile {
namespace {

constexpr int max_coordinates = 16, max_repeats = 24;

/// A coordinate at which an operator is evaluated, relative to that of the operator (the root) whose evaluation needs
/// it. `path` is a hash of the shifts by slices and concatenations in between (0: none), `shifts` their number.
struct Coordinate {
  std::size_t path = 0;
  int shifts = 0;
  auto operator<=>(const Coordinate&) const = default;
};

/// Decides which values of a program to store. Nodes are the operators of the program.
class Sharing {
 public:
  explicit Sharing(const TileProgram& p) : p_(p), stored_(p.nodes.size(), false) {}

  /// Returns, by node, whether its value must be stored in shared memory.
  std::vector<bool> run() {
    store_shifted();
    store_repeated();
    return std::move(stored_);
  }

 private:
  int size() const { return static_cast<int>(p_.nodes.size()); }
  // Returns whether node i is evaluated where it is read.
  bool evaluated(int i) const { return inlined(p_.nodes[i].kind) && !stored_[i]; }

  /// Marks as stored the nodes that one evaluation needs at more than 16 (max_coordinates) coordinates or
  /// shifts. Walks from the stores to the loads and collects the coordinates at which each node is needed.
  /// Also marks rotary embeddings and unpacked weights that are needed at a shifted coordinate.
  void store_shifted() {
    std::vector<std::set<Coordinate>> at(p_.nodes.size());
    for (int i = size() - 1; i >= 0; --i) {
      const Node& n = p_.nodes[i];
      const auto moved = [](const Coordinate& c) { return c.shifts > 0; };
      const auto deep = [](const Coordinate& c) { return c.shifts > max_coordinates; };
      if (inlined(n.kind) &&
          (at[i].size() > max_coordinates || std::ranges::any_of(at[i], deep) ||
           ((n.kind == NodeKind::rotate || n.kind == NodeKind::unpack || n.kind == NodeKind::repeat) &&
            std::ranges::any_of(at[i], moved))))
        stored_[i] = true;
      if (!evaluated(i)) at[i] = {Coordinate{}};
      std::int64_t from = 0;
      for (std::size_t k = 0; k < n.in.size(); ++k) {
        const std::int64_t shift = n.kind == NodeKind::slice                                   ? n.start
                                   : n.kind == NodeKind::concat                                ? -from
                                   : n.kind == NodeKind::rotate || n.kind == NodeKind::permute ? 1
                                                                                               : 0;
        if (n.kind == NodeKind::concat) from += p_.nodes[n.in[k]].shape[n.dim];
        for (const Coordinate& c : at[i]) {
          Coordinate there = c;
          if (n.kind != NodeKind::map && shift != 0)
            there = {(c.path * 31 + static_cast<std::size_t>(n.dim)) * 1000003 + static_cast<std::size_t>(shift),
                     c.shifts + 1};
          at[n.in[k]].insert(there);
        }
      }
    }
  }

  /// Where a node is evaluated: (phase between barriers, section of the kernel, root, shape). Elementwise work of one
  /// phase, section and shape shares values, so its root is -1; a reduction or matmul shares none.
  using Place = std::tuple<int, Section, int, Shape>;

  void store_repeated() {
    std::vector<std::set<Place>> places(p_.nodes.size());  // that evaluate each node
    std::vector<int> level(p_.nodes.size(), 0);            // of stored values: approximate number of earlier phases
    const Sections sections(p_);
    for (int root = 0; root < size(); ++root) {
      const Node& n = p_.nodes[root];
      if (inlined(n.kind)) continue;
      level[root] = level_of(n.in, level);
      const Place place{level[root], sections.of(root),
                        n.kind == NodeKind::reduce || n.kind == NodeKind::matmul ? root : -1,
                        n.in.empty() ? n.shape : p_.nodes[n.in[0]].shape};
      for (std::vector<int> cone = newly(n.in, place, places); repeated(cone, places) > max_repeats;) {
        const std::vector<int> top = frontier(cone, n.in, places);
        if (top.empty()) break;
        for (int i : top) {
          stored_[i] = true;
          level[i] = level_of(p_.nodes[i].in, level);
        }
        cone = newly(n.in, place, places);
      }
      for (int i : newly(n.in, place, places)) places[i].insert(place);
    }
  }

  /// Returns approximately how many barriers must precede the evaluation of an operator with the operands `from`.
  /// Reading a stored value takes one barrier more than computing it, except for a loaded tile. `level` has the
  /// number of barriers before each stored value.
  int level_of(const std::vector<int>& from, const std::vector<int>& level) const {
    int maximum = 0;
    p_.visit_from(from, [&](int i) {
      if (!evaluated(i)) maximum = std::max(maximum, level[i] + (p_.nodes[i].kind == NodeKind::load ? 0 : 1));
      return evaluated(i);
    });
    return maximum;
  }

  /// Returns the nodes that must be evaluated in addition to get the operands `from` at `place`: the operands, and the
  /// nodes that are evaluated inline for them. `places` has, for each node, the places at which it is evaluated
  /// already; nodes that have `place` there are omitted.
  std::vector<int> newly(const std::vector<int>& from, const Place& place,
                         const std::vector<std::set<Place>>& places) const {
    std::set<int> found;
    p_.visit_from(from, [&](int i) {
      const bool more = evaluated(i) && !places[i].count(place);
      if (more) found.insert(i);
      return more;
    });
    return {found.begin(), found.end()};
  }

  static int repeated(const std::vector<int>& cone, const std::vector<std::set<Place>>& places) {
    return static_cast<int>(std::ranges::count_if(cone, [&](int i) { return !places[i].empty(); }));
  }

  /// Returns the operators whose results should be stored next, because they are evaluated repeatedly: the last ones
  /// among those of `cone`, which are evaluated for `operands`, that are evaluated at another place as well. An
  /// operator is among the last ones if it is one of `operands`, or an operand of an operator in `cone` that is
  /// evaluated at no other place. Omits operators whose operands are all stored.
  std::vector<int> frontier(const std::vector<int>& cone, const std::vector<int>& operands,
                            const std::vector<std::set<Place>>& places) const {
    std::set<int> top;
    const auto add = [&](int i) {
      const Node& n = p_.nodes[i];
      const bool deep = std::ranges::any_of(n.in, [&](int in) { return evaluated(in); });
      if (evaluated(i) && !places[i].empty() && deep) top.insert(i);
    };
    for (int i : operands) add(i);
    for (int i : cone)
      if (places[i].empty())
        for (int in : p_.nodes[i].in) add(in);
    return {top.begin(), top.end()};
  }

  const TileProgram& p_;
  std::vector<bool> stored_;
};

}  // namespace

bool share(TileProgram& p, const target::Target&) {
  const std::vector<bool> stored = Sharing(p).run();
  if (std::ranges::count(stored, true) == 0) return false;
  p.rebuild([&](std::size_t i, Node n) {
    Node round{.kind = NodeKind::round, .shape = n.shape, .dtype = kept_in(n.dtype)};
    round.in = {p.add(std::move(n))};
    return stored[i] ? p.add(std::move(round)) : round.in[0];
  });
  return false;  // no rule is tried again
}

bool unshare(TileProgram& p) {
  const auto stored = [&](const Node& reader, int i) {  // a matmul reads its operands where they are stored
    return reader.kind != NodeKind::matmul && p.nodes[i].kind == NodeKind::round &&
           p.nodes[i].dtype == kept_in(p.nodes[i].dtype);
  };
  std::int64_t largest = 0;
  for (const Node& n : p.nodes)
    for (int in : n.in)
      if (stored(n, in)) largest = std::max(largest, graph::size(p.nodes[in].shape));
  for (Node& n : p.nodes)
    for (int& in : n.in)
      if (stored(n, in) && graph::size(p.nodes[in].shape) == largest) in = p.nodes[in].in[0];
  return largest > 0;
}

}  // namespace zellige::tile
