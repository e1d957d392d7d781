#include "selection/row_registers.hpp"

#include <algorithm>
#include <bit>

#include "selection/copies.hpp"

namespace zellige::selection {
namespace {

/// Finds the values of a kernel that several of its tasks read; see rows_in_registers().
class RowValues {
 public:
  RowValues(const kernel::Kernel& kernel, const tile::TilePrograms& program, const target::Target& target)
      : p_(kernel.program), program_(program), target_(target), live_(p_.needed()) {}

  std::optional<RowRegisters> run() {
    if (p_.loop != 1 || p_.warps() == 0 || p_.threads() % 32 != 0) return {};
    find_reductions();
    if (reductions_ == 0 || tile_.back() < 2 || !suitable() || in_place()) return {};
    const std::optional<kernel::Summation> s = row_summation(tile_, vector_, bytes_, reductions_, p_.threads());
    if (!s) return {};
    RowRegisters rows{kernel::summands(*s), row_values()};
    const std::set<int> deferred = deferred_loads(rows.row_values);
    const bool tiles = std::ranges::all_of(deferred, [&](int i) { return node(i).shape == tile_; });
    const std::int64_t values = rows.layout.values(),
                       with_deferred = values * static_cast<std::int64_t>(1 + deferred.size());
    const bool together = tiles && with_deferred <= max_row_values;
    if (s->splits > 1 && (rows.row_values.empty() || !better_than_shared(together ? with_deferred : values, together)))
      return {};
    if (together) rows.row_values.insert(deferred.begin(), deferred.end());
    return rows;
  }

 private:
  int size() const { return static_cast<int>(p_.nodes.size()); }
  const tile::Node& node(int i) const { return p_.nodes[i]; }
  bool live(int i) const { return live_[i]; }

  /// Finds the reductions on which stores depend, and the tile that they reduce.
  void find_reductions() {
    for (int i = size() - 1; i >= 0; --i) {
      if (!live(i) || node(i).kind != tile::NodeKind::reduce) continue;
      ++reductions_;
      row_ = tile_ = node(node(i).in[0]).shape;
      row_.back() = 1;
    }
  }

  /// Returns whether the lanes of a row can evaluate every node. Sets the width and size of the tiles' accesses.
  bool suitable() {
    for (int i = 0; i < size(); ++i) {
      const tile::Node& n = node(i);
      if (!live(i)) continue;
      if (tile::number_of(n) >= 0) return false;
      switch (n.kind) {
        case tile::NodeKind::map:
          break;
        case tile::NodeKind::reduce:
          if (n.carried || node(n.in[0]).shape != tile_ || n.shape != row_ || n.to != 1 ||
              n.dim + 1 != static_cast<int>(tile_.size()))
            return false;
          break;
        case tile::NodeKind::load:
        case tile::NodeKind::store:
          if (n.kind == tile::NodeKind::store && n.shape != tile_ && n.shape != row_) return false;
          if (n.shape == tile_ && !contiguous(n)) return false;
          break;
        default:
          return false;
      }
    }
    return true;
  }

  /// Returns whether the rows of the tile that node `n` loads or stores are contiguous and complete.
  bool contiguous(const tile::Node& n) {
    const int last = static_cast<int>(tile_.size()) - 1;
    if (program_.tensors[n.tensor].strides[last] != 1 || n.view.predicated(last)) return false;
    vector_ = std::min(vector_, widest_copy(program_, n, target_).vector);
    bytes_ = std::max(bytes_, graph::whole_bytes(n.dtype));
    return true;
  }

  /// Returns whether a tensor is both loaded and stored.
  bool in_place() const {
    std::set<int> loaded;
    for (int i = 0; i < size(); ++i)
      if (live(i) && node(i).kind == tile::NodeKind::load) loaded.insert(program_.memory_of(node(i).tensor));
    return std::ranges::any_of(p_.nodes, [&](const tile::Node& n) {
      return n.kind == tile::NodeKind::store && loaded.contains(program_.memory_of(n.tensor));
    });
  }

  /// Returns the loads and maps of the shape of the tile that several tasks (reductions and stores) need. Of values
  /// that the same tasks need, only the last ones are returned: the others are evaluated with them.
  std::set<int> row_values() const {
    std::vector<std::set<int>> needed_by(p_.nodes.size());
    const auto tile = [&](int i) {
      return node(i).shape == tile_ && (node(i).kind == tile::NodeKind::map || node(i).kind == tile::NodeKind::load);
    };
    std::set<int> result;
    for (int i = size() - 1; i >= 0; --i) {
      if (!live(i) || !tile(i)) continue;
      std::set<int>& tasks = needed_by[i];
      const std::vector<int> readers = p_.consumers(i);
      for (int reader : readers) {
        if (!live(reader)) continue;
        if (!tile(reader))
          tasks.insert(reader);
        else
          tasks.insert(needed_by[reader].begin(), needed_by[reader].end());
      }
      const bool with_reader = std::ranges::any_of(
          readers, [&](int reader) { return live(reader) && tile(reader) && needed_by[reader] == tasks; });
      if (tasks.size() > 1 && !with_reader) result.insert(i);
    }
    return result;
  }

  /// Returns whether rows of several warps, with `values` elements in registers of each thread, had better go through
  /// registers than through shared memory. `together`: all loads are in flight together.
  ///
  /// - All blocks are resident at a time, so that a block's latency counts: it has no copies to wait for, and one
  ///   barrier less.
  /// - Or rows are not aligned to the widest access, and would be copied in small pieces.
  /// - Or the rows that are read several times exceed half of a block's shared memory, and would be loaded again.
  bool better_than_shared(std::int64_t values, bool together) const {
    constexpr std::int64_t others = 24;  // registers per thread, without those of the rows
    const std::int64_t registers = (values + others) * p_.threads() * p_.grid.count();
    const bool resident = registers <= std::int64_t{target_.multiprocessors} * target_.registers_per_multiprocessor;
    return (resident && together) || vector_ * bytes_ < target_.access_bytes || target_.half_exceeded(bytes_again());
  }

  /// Returns the size of the loaded tiles from which a reduction or several tasks are evaluated.
  std::int64_t bytes_again() const {
    std::int64_t bytes = 0;
    for (int i = 0; i < size(); ++i)
      if (live(i) && node(i).kind == tile::NodeKind::load && node(i).shape == tile_ && !is_deferred(i, {}))
        bytes += graph::bytes_of(graph::size(tile_), node(i).dtype);
    return bytes;
  }

  /// Returns the loads of rows that are read only by stores of values that depend on a reduction, and from which no value
  /// in `row_values` is evaluated, such as the weights of a norm. If they have the shape of the tile, they can be in
  /// registers as well, and are in flight together with the loads that the reduction waits for.
  std::set<int> deferred_loads(const std::set<int>& row_values) const {
    std::set<int> deferred;
    for (int i = 0; i < size(); ++i)
      if (live(i) && node(i).kind == tile::NodeKind::load && node(i).shape.back() == tile_.back() &&
          !row_values.contains(i) && is_deferred(i, row_values))
        deferred.insert(i);
    return deferred;
  }

  /// Returns whether the value of node `i` reaches no reduction and no value in `row_values`, and is combined with the
  /// result of a reduction.
  bool is_deferred(int i, const std::set<int>& row_values) const {
    bool deferred = false;
    std::vector<int> open = p_.consumers(i);
    while (!open.empty()) {
      const int reader = open.back();
      open.pop_back();
      if (!live(reader)) continue;
      if (node(reader).kind == tile::NodeKind::reduce || row_values.contains(reader)) return false;
      deferred = deferred || reduced(reader);
      for (int next : p_.consumers(reader)) open.push_back(next);
    }
    return deferred;
  }

  /// Returns whether node `i` depends on a reduction.
  bool reduced(int i) const {
    return node(i).kind == tile::NodeKind::reduce ||
           std::ranges::any_of(node(i).in, [&](int in) { return reduced(in); });
  }

  const tile::TileProgram& p_;
  const tile::TilePrograms& program_;
  const target::Target& target_;
  std::vector<bool> live_;
  graph::Shape tile_, row_;  // shape of the tiles; of one value per row
  int reductions_ = 0, vector_ = kernel::max_elements_per_step, bytes_ = 1;
};

}  // namespace

std::optional<kernel::Summation> row_summation(const graph::Shape& domain, int vector, int bytes, int reductions,
                                               int threads) {
  constexpr std::int64_t few = 8;  // elements per thread
  kernel::Summation s;
  s.domain = s.sums = domain;
  s.sums.back() = 1;
  s.dim = static_cast<int>(domain.size()) - 1, s.length = domain.back();
  const std::int64_t rows = graph::size(s.sums), elements = graph::size(domain);
  std::int64_t fewest = 0;
  for (; vector > 0; vector /= 2) {
    if (s.length % vector != 0) continue;
    for (int group = 2; group <= threads; group *= 2) {  // threads of a row
      const int lanes = std::min(group, 32), warps = group / lanes;
      const std::int64_t chunks = s.length / vector, each = tile::ceil_div(chunks, group),
                         lines = tile::ceil_div(rows, threads / group), values = each * vector * lines;
      const bool scattered = is_scattered(lanes, chunks, vector * bytes);
      if (scattered || values > max_row_values || (values > few && 2 * values * threads > 3 * elements)) continue;
      // Instructions of a thread: two per access, one per element, and two per shuffle. Warps exchange their results
      // through shared memory: a store, a barrier, and two per result.
      const std::int64_t shuffles = std::bit_width(static_cast<unsigned>(lanes)) - 1,
                         exchange = warps > 1 ? 8 + 2 * warps : 0,
                         instructions = 2 * each * lines + values + lines * reductions * (2 * shuffles + exchange);
      if (fewest > 0 && instructions >= fewest) continue;
      fewest = instructions;
      s.vector = vector, s.lanes = lanes, s.splits = warps, s.groups = threads / group;
    }
  }
  return fewest > 0 ? std::optional(std::move(s)) : std::nullopt;
}

std::optional<RowRegisters> rows_in_registers(const kernel::Kernel& kernel, const tile::TilePrograms& program,
                                              const target::Target& target) {
  return RowValues(kernel, program, target).run();
}

}  // namespace zellige::selection
