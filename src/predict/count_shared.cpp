#include "predict/count_shared.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "kernel/evaluated_layout.hpp"
#include "kernel/widened.hpp"
#include "predict/banks.hpp"
#include "selection/matrix_stores.hpp"

namespace zellige::predict {
namespace {

using emulate::by_width;
using emulate::Counter;

/// The coordinates that a warp's lanes visit, by iteration of the loop nest, and the number of the partial result to
/// which each lane contributes.
struct WarpVisits {
  std::vector<kernel::WarpAccess> iterations;
  std::vector<std::int64_t> part;
};

/// Returns the index of thread `thread` within the modes of a thread layout that `which` selects, as one number; the
/// other modes are ignored. A mode is selected if which(mode, below) is true, where `below` is the product of the
/// extents of all modes before it.
template <class Which>
std::int64_t digit(const std::vector<kernel::Mode>& modes, int thread, const Which& which) {
  std::int64_t number = 0, times = 1, below = 1;
  for (const kernel::Mode& m : modes) {
    if (which(m, below)) number += thread / below % m.extent * times, times *= m.extent;
    below *= m.extent;
  }
  return number;
}

/// Returns, for each warp, the coordinates that its lanes visit in a thread-value layout.
std::vector<WarpVisits> warps_of(const kernel::Context& c, kernel::Visits which) {
  const bool sums = which != kernel::Visits::items;
  const std::vector<kernel::Mode> threads = kernel::modes(values::View(c.share)[0]);
  const int count = c.threads();
  std::vector<WarpVisits> warps(tile::ceil_div(count, 32));
  for (int thread = 0; thread < count; ++thread)
    warps[thread / 32].part.push_back(digit(threads, thread, [&](const kernel::Mode& m, std::int64_t below) {
      return sums ? m.stride != 0 && m.basis == 0 && below >= 32 : m.stride == 0;
    }));
  const auto visit = [&](int warp, const kernel::WarpAccess& lanes) { warps[warp].iterations.push_back(lanes); };
  kernel::for_each_access(c, visit, std::numeric_limits<std::size_t>::max(), which);
  return warps;
}

/// Returns the ideal number of wavefronts of an access as the emulator defines it: the number of phases with an active
/// lane, or `total`, the actual number, if that is less. Phases that the hardware merges count separately.
int ideal(const BankAccess& a, int total) {
  const int lanes = std::clamp(128 / a.bytes, 1, 32);
  int phases = 0;
  for (int first = 0; first < 32; first += lanes) {
    bool any = false;
    for (int lane = first; lane < first + lanes; ++lane) any = any || a.address[lane] != -1;
    phases += any;
  }
  return std::min(total, phases);
}

/// Returns whether two accesses certainly have equal wavefronts, because all lanes' addresses in one differ from
/// those in the other by the same multiple of 128 bytes (one row of all banks).
bool equivalent(const BankAccess& a, const BankAccess& b) {
  if (a.address.size() != b.address.size()) return false;
  std::int64_t by = -1;
  for (std::size_t lane = 0; lane < a.address.size(); ++lane) {
    const bool active = a.address[lane] != -1;
    if (active != (b.address[lane] != -1)) return false;
    if (!active) continue;
    const std::int64_t now = a.address[lane] - b.address[lane];
    if (now % 128 != 0 || (by != -1 && now != by)) return false;
    by = now;
  }
  return true;
}

/// Everything that the counts of a single access depend on.
using CountsKey = std::vector<std::int64_t>;

/// Returns the part of a key that identifies a thread-value layout. `sums`: a reduction's results
/// are accessed, not all elements.
CountsKey key_of(const kernel::Context& c, bool sums) {
  CountsKey key{sums, c.replicated(), c.lanes(), c.vector(), c.repeats(), static_cast<std::int64_t>(c.rank())};
  const auto add = [&](values::View layout) {
    const std::vector<kernel::Mode> leaves = kernel::modes(layout);
    key.push_back(std::ssize(leaves));
    for (const kernel::Mode& m : leaves) key.insert(key.end(), {m.extent, m.stride, m.basis});
  };
  for (int i = 0; i < 3; ++i) add(values::View(c.share)[i]);
  for (int axis = 0; axis < c.axes(); ++axis) add(values::View(c.tile)[axis]), key.push_back(c.items(axis));
  return key;
}

/// Adds up the counters of a loop nest's accesses in `result`. `sums`: the nest stores a reduction's results.
class Count {
 public:
  Count(const kernel::Kernel& kernel, const kernel::Context& c, bool sums = false)
      : plan_(kernel), context_(c), sums_(sums), key_(key_of(c, sums)) {}

  void add(const SharedAccess& a) {
    // Of all plans: those of one search have many accesses in common.
    static std::map<CountsKey, SharedCounts> known;
    static std::mutex mutex;
    constexpr std::size_t limit = 1 << 14;
    CountsKey key = with(a);
    std::unique_lock lock(mutex);
    auto one = known.find(key);
    if (one == known.end()) {
      lock.unlock();
      SharedCounts counts = counted(a);
      lock.lock();
      if (known.size() >= limit) known.clear();
      one = known.insert_or_assign(std::move(key), std::move(counts)).first;
    }
    for (const auto& [counter, count] : one->second.counts) result.counts[counter] += count;
    result.mixed = result.mixed || one->second.mixed;
    result.ragged = result.ragged || one->second.ragged;
  }
  SharedCounts result;

 private:
  CountsKey with(const SharedAccess& a) const {
    const kernel::SmemTensor& b = plan_.tensors[a.buffer];
    CountsKey key = key_;
    key.insert(key.end(), {a.invariant, a.load, a.bytes, a.part, graph::bits(b.dtype), b.part_step,
                           b.offset % target::bank_row_bytes});
    for (const ValueNode& n : b.layout.nodes) key.insert(key.end(), {n.kids, n.s.v, n.d.v, n.e});
    const auto coordinate = [&](const kernel::TileCoordinate& c) {
      key.insert(key.end(), {c.from, c.offset, c.last, c.layout.element, c.layout.pair, c.layout.added, c.layout.run});
    };
    key.push_back(std::ssize(a.at));
    for (const kernel::TileCoordinate& c : a.at) coordinate(c);
    for (const AccessCondition& w : a.where) coordinate(w.at), key.insert(key.end(), {w.below, w.holds});
    return key;
  }

  SharedCounts counted(const SharedAccess& a) {
    std::vector<WarpVisits>& warps = a.invariant ? lines_ : warps_;
    if (warps.empty())
      warps = warps_of(context_, a.invariant ? kernel::Visits::lines
                                 : sums_     ? kernel::Visits::sums
                                             : kernel::Visits::items);
    const bool replicated = context_.replicated();
    const Counter first = a.load ? Counter::shared_load_1 : Counter::shared_store_1;
    const Counter wavefronts = a.load ? Counter::shared_load_wavefronts : Counter::shared_store_wavefronts;
    BankAccess access{.bytes = a.bytes, .address = std::vector<std::int64_t>(32), .load = a.load}, last;
    Wavefronts w;
    int ideally = 0;
    std::uint64_t done = 0, total = 0, ideal_total = 0;
    SharedCounts one;
    for (const WarpVisits& warp : warps) {
      std::uint32_t all = ~0u, limit = 0;  // lanes active in all iterations so far; in the first
      for (const kernel::WarpAccess& lanes : warp.iterations) {
        std::uint32_t active = 0;
        for (std::size_t lane = 0; lane < 32; ++lane) {
          access.address[lane] = -1;
          if (lanes[lane].empty() || !taken(a, lanes[lane])) continue;
          if (replicated && !a.load && warp.part[lane] > 0) continue;  // one of several equal lanes stores
          active |= 1u << lane;
          access.address[lane] = address(a, lanes[lane], a.part == own_part ? warp.part[lane] : a.part);
          ++done;
        }
        if (!active) continue;
        one.mixed = one.mixed || (active & ~all) != 0;
        all = active, limit |= active;
        if (!equivalent(access, last)) w = evaluate(access), ideally = ideal(access, w.total), last = access;
        total += static_cast<std::uint64_t>(w.total), ideal_total += static_cast<std::uint64_t>(ideally);
      }
      one.ragged = one.ragged || (limit && all != limit);
    }
    if (done > 0) {
      one.counts[by_width(first, static_cast<unsigned>(a.bytes))] = done;
      one.counts[wavefronts] = total;
      one.counts[Counter(unsigned(wavefronts) + 1)] = ideal_total;
    }
    return one;
  }

  /// Returns whether the access `a` is executed when the loop nest is at coordinate `at`: its conditions hold there.
  static bool taken(const SharedAccess& a, const graph::Shape& at) {
    return std::ranges::all_of(a.where, [&](const AccessCondition& b) { return (b.at.of(at) < b.below) == b.holds; });
  }

  /// Returns the address in shared memory, in bytes, of the access `a` when the loop nest is at coordinate `at`.
  /// `part` is the index of the partial result that is accessed, if the buffer has several.
  std::int64_t address(const SharedAccess& a, const graph::Shape& at, std::int64_t part) {
    element_.clear();
    for (const kernel::TileCoordinate& c : a.at) element_.push_back(c.of(at));
    return plan_.tensors[a.buffer].address(element_, part);
  }

  const kernel::Kernel& plan_;
  const kernel::Context& context_;
  bool sums_;
  CountsKey key_;
  std::vector<WarpVisits> warps_, lines_;
  graph::Shape element_;
};

/// Returns whether a layout has more than 4 million items, which would take too long to enumerate.
bool too_many(const kernel::Context& c) {
  constexpr std::int64_t limit = std::int64_t{1} << 22;
  std::int64_t items = 1;
  for (int axis = 0; axis < c.axes() && items <= limit; ++axis) items *= std::min(c.items(axis), limit + 1);
  return items > limit;
}

/// Returns a thread's access to its own elements of a buffer: a load (or, if `load` is false, a store) of `elements`
/// adjacent elements. The coordinate of the first one is that of the loop nest's current iteration. `part` is the index
/// of the partial result that is accessed, if the buffer has several.
SharedAccess own(const kernel::Kernel& kernel, int buffer, bool load, int elements, int part = 0) {
  const kernel::SmemTensor& b = kernel.tensors[buffer];
  SharedAccess a{buffer, load, elements * graph::whole_bytes(b.dtype), part, {}, {}};
  for (int d = 0; d < static_cast<int>(b.padded.size()); ++d) a.at.push_back({d});
  return a;
}

/// Returns the counters of shared-memory accesses of split-K's exchange of partial results through buffer `b`. Each
/// thread receives (if `load`) or sends four accumulators per access, without bank conflicts.
SharedCounts exchanged(const kernel::SmemTensor& b, bool load) {
  constexpr int bytes = 16, together = 128;
  const Counter wavefronts = load ? Counter::shared_load_wavefronts : Counter::shared_store_wavefronts;
  SharedCounts result;
  result.counts[load ? Counter::shared_load_16 : Counter::shared_store_16] = b.bytes() / bytes;
  result.counts[wavefronts] = result.counts[Counter(unsigned(wavefronts) + 1)] = b.bytes() / together;
  return result;
}

/// Adds the counters of work `t`, by which warps store their accumulators as 8x8 matrices.
void add_matrices(Counts& counts, const kernel::Kernel& kernel, const kernel::Work& t) {
  const kernel::SmemTensor& b = kernel.tensors[t.tensor];
  const Instruction& store = *t.copy.row;
  BankAccess access{.bytes = store.c.alignment, .address = {}}, last;
  Wavefronts w;
  std::uint64_t matrices = 0;
  selection::for_each_matrix(kernel.layout_of(t), store, [&](int, const kernel::WarpAccess& rows) {
    access.address.clear();
    for (const graph::Shape& at : rows) access.address.push_back(b.address(at));
    if (!equivalent(access, last)) w = evaluate(access), last = access;
    counts[Counter::stmatrix_wavefronts] += w.total, counts[Counter::stmatrix_wavefronts_ideal] += w.ideal;
    ++matrices;
  });
  counts[Counter::stmatrix] += matrices / store.a.registers;
}

/// Collects a loop nest's shared-memory accesses from its items (the loads, computations and stores of evaluate()).
class Collection {
 public:
  Collection(const kernel::Kernel& kernel, const kernel::Context& c) : plan_(kernel), c_(c) {}

  std::vector<SharedAccess> accesses;
  bool crosses_edge = false;  // an access depends on whether the block's tile is partial

  /// Adds the accesses of an item (a load, computation or store of the nest). An item that is a bounds check
  /// or a branch of a concatenation opens or closes a condition for the items that follow.
  void add(const kernel::Item& item) {
    switch (item.kind) {
      case kernel::Item::Kind::read_shared:
        crosses_edge = crosses_edge || (edges_ > 0 && !item.invariant);
        for (const std::vector<kernel::TileCoordinate>& at : item.pieces)
          for (int part = 0; part < plan_.tensors[item.buffer].partials; ++part) add(item, true, part, at);
        return;
      case kernel::Item::Kind::leave:
        return leave(item);
      case kernel::Item::Kind::part:
        if (item.part.first) outer_.push_back(where_.size());
        if (!item.part.last) where_.push_back({item.part.at, item.part.end, true});
        return;
      case kernel::Item::Kind::take:
        if (!item.part.last)
          where_.back().holds = false;
        else
          where_.resize(outer_.back()), outer_.pop_back();
        return;
      case kernel::Item::Kind::guard:
        outer_.push_back(where_.size());
        open_.push_back(!item.within.empty());
        edges_ += open_.back();
        for (const kernel::Guard& g : item.guards)
          where_.push_back(g.axis == 2 ? AccessCondition{{0}, c_.domain[0]}
                                       : AccessCondition{{c_.rank() - 1 - g.axis}, g.below});
        return;
      case kernel::Item::Kind::guarded:
        where_.resize(outer_.back()), outer_.pop_back();
        edges_ -= open_.back(), open_.pop_back();
        return;
      default:
        return;
    }
  }

 private:
  /// Adds the shared-memory stores of `item`, the instruction of the loop nest by which a work stores its result.
  void leave(const kernel::Item& item) {
    const kernel::Work& t = *item.work;
    if (t.copy.by_matrices()) return;  // counted by count_shared()
    if (t.kind != kernel::WorkKind::to_shared && (t.kind != kernel::WorkKind::accumulate || t.tensor < 0)) return;
    crosses_edge = crosses_edge || edges_ > 0;
    for (int v = 0; v < c_.vector(); v += item.width) {
      std::vector<kernel::TileCoordinate> at;
      for (int d = 0; d < c_.rank(); ++d) at.push_back({d});
      at[c_.inner()].offset = v;
      const kernel::TileCoordinate last = at[c_.inner()];
      add(item, false, plan_.tensors[t.tensor].partials > 1 ? own_part : 0, std::move(at));
      if (item.edge > 0) accesses.back().where.push_back({last, item.edge});
    }
  }

  /// Adds a load or store by `item` at coordinates `at` of its buffer. It is executed under the conditions (bounds
  /// checks and branches) that are open at this item.
  /// `part` is the index of the partial result that is accessed, if the buffer has several.
  void add(const kernel::Item& item, bool load, int part, std::vector<kernel::TileCoordinate> at) {
    const kernel::SmemTensor& b = plan_.tensors[item.buffer];
    accesses.push_back({item.buffer, load, item.width * graph::whole_bytes(b.dtype), part, std::move(at),
                        item.invariant ? std::vector<AccessCondition>{} : where_, item.invariant});
  }

  const kernel::Kernel& plan_;
  const kernel::Context& c_;
  std::vector<AccessCondition> where_;  // conditions at the current item
  std::vector<std::size_t> outer_;      // for each open guard and concatenation: number of conditions before it
  std::vector<bool> open_;              // for each open guard: whether it checks a tensor's bounds
  int edges_ = 0;                       // number of open guards that check a tensor's bounds
};

/// Returns the counters of the loads by which threads read the bytes that they widen for a product by wgmma, tile by tile: each lane loads
/// a quarter of a row, 16 bytes at a time or all of them, of two rows of each 16 (block/widened_rows.hpp).
SharedCounts loads_of_bytes(const kernel::Kernel& kernel, const kernel::WidenedOperand& w) {
  const kernel::SmemTensor& b = kernel.tensors[static_cast<std::size_t>(kernel.tensor_of(w.bytes))];
  const std::int64_t own = b.padded[1] / 4, bytes = std::min<std::int64_t>(own, 16), rows = b.padded[0];
  SharedCounts result;
  for (std::int64_t first = 0; first < rows; first += 8)
    for (std::int64_t i = 0; i < own; i += bytes) {
      BankAccess access{.bytes = static_cast<int>(bytes), .address = {}, .load = true};
      for (int lane = 0; lane < 32; ++lane) access.address.push_back(b.address({first + lane / 4, lane % 4 * own + i}));
      const int total = evaluate(access).total;
      result.counts[by_width(Counter::shared_load_1, static_cast<unsigned>(bytes))] += 32;
      result.counts[Counter::shared_load_wavefronts] += static_cast<std::uint64_t>(total);
      result.counts[Counter::shared_load_wavefronts_ideal] += static_cast<std::uint64_t>(ideal(access, total));
    }
  return result;
}

}  // namespace

std::optional<std::vector<SharedAccess>> nest_accesses(const kernel::Kernel& kernel, kernel::StepSpan steps) {
  Collection all(kernel, kernel.layout_of(steps.front().work));
  for (const kernel::Item& item : kernel::evaluate(kernel, steps)) all.add(item);
  if (all.crosses_edge) return {};
  return std::move(all.accesses);
}

SharedCounts count_shared(const kernel::Kernel& kernel, kernel::StepSpan steps) {
  const kernel::Work& t = steps.front().work;
  const kernel::Context& c = kernel.layout_of(t);
  const tile::Node& n = kernel.program.nodes[t.node];
  const bool staged = t.kind == kernel::WorkKind::to_global && t.tensor >= 0;
  if (t.kind == kernel::WorkKind::mma && !t.matmul.asynchronous() &&
      kernel::widened_operand(kernel.program, t.node, t.matmul))
    return {.counts = {}, .exact = false};
  if (const auto widened = kernel::widened_by(kernel, t)) {
    if (t.part == kernel::makes_operand) return {};
    return loads_of_bytes(kernel, *widened);
  }
  if (t.kind == kernel::WorkKind::mma || t.kind == kernel::WorkKind::fetch) return {};
  if (t.kind == kernel::WorkKind::to_cluster || t.kind == kernel::WorkKind::from_cluster) {
    const int buffer = t.kind == kernel::WorkKind::to_cluster ? t.tensor : steps.front().reads.front().tensor;
    return exchanged(kernel.tensors[buffer], t.kind == kernel::WorkKind::from_cluster);
  }
  if ((t.kind == kernel::WorkKind::copy_in || staged) && t.copy.row) return {};  // bypasses registers
  if (t.kind == kernel::WorkKind::finish && t.tensor < 0) return {};             // into registers
  if (too_many(c)) return {.counts = {}, .exact = false};
  if (t.kind == kernel::WorkKind::finish) {
    Count count(kernel, c, true);
    SharedAccess store = own(kernel, t.tensor, false, 1, kernel.tensors[t.tensor].partials > 1 ? own_part : 0);
    for (std::size_t d = 0; c.row && d < store.at.size(); ++d)
      store.where.push_back({{static_cast<int>(d)}, n.shape[d]});  // accumulators may exceed the tile
    count.add(store);
    return std::move(count.result);
  }
  Count count(kernel, c);
  if (t.kind == kernel::WorkKind::copy_in || staged) {
    count.add(own(kernel, t.tensor, staged, c.vector()));
    count.result.exact = count.result.exact && !(staged && n.view.predicated());
    return std::move(count.result);
  }
  const std::optional<std::vector<SharedAccess>> accesses = nest_accesses(kernel, steps);
  if (!accesses) return {.counts = {}, .exact = false};
  for (const SharedAccess& a : *accesses) count.add(a);
  for (const kernel::Step& step : steps)
    if (step.work.copy.by_matrices()) add_matrices(count.result.counts, kernel, step.work);
  return std::move(count.result);
}

SharedCounts count_start(const kernel::Kernel& kernel, const kernel::Work& t) {
  if (t.kind != kernel::WorkKind::accumulate || t.tensor < 0) return {};
  const kernel::Context& c = kernel.layout_of(t);
  Count count(kernel, c);
  for (int v = 0; v < c.vector(); ++v) {
    SharedAccess a = own(kernel, t.tensor, false, 1);
    a.at[c.inner()].offset = v;
    count.add(a);
  }
  return std::move(count.result);
}

}  // namespace zellige::predict
