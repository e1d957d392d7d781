#include "plan/predict.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/banks.hpp"
#include "plan/bounds.hpp"
#include "plan/count_shared.hpp"
#include "plan/nests.hpp"
#include "plan/outer_product.hpp"
#include "plan/sliced.hpp"
#include "plan/tensor_map.hpp"
#include "plan/warpgroups.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::plan {
namespace {

using emulate::Counter;

constexpr Counter shared_wavefronts[] = {
    Counter::shared_load_wavefronts, Counter::shared_load_wavefronts_ideal, Counter::shared_store_wavefronts,
    Counter::shared_store_wavefronts_ideal};

void add(Counts& to, const Counts& from, std::uint64_t times) {
  for (const auto& [counter, n] : from) to[counter] += n * times;
}

/// One operand of a matmul in shared memory.
struct Operand {
  const Buffer& buffer;
  int k_dim, other_dim;
  std::int64_t extent, first;  // of M, or of a slice of N
  int matrices;                // along M or N in one load
  int unit;                    // rows or columns per load if there are that many
};

/// One warp's ldmatrix of `depth` elements of K at k, and of M or N at x.
void load(Counts& counts, const Instruction& row, const Operand& o, Shape at, std::int64_t k, std::int64_t x,
          std::int64_t depth, std::uint64_t times) {
  const int matrix = matrix_side(row);
  const bool along_k = o.buffer.inner == o.k_dim, clamped = o.extent % o.unit != 0;
  counts[Counter::ldmatrix] += times;
  for (int dx = 0; dx < o.matrices * matrix; dx += matrix)
    for (int dk = 0; dk < depth; dk += matrix) {
      BankAccess rows{.bytes = row.a.alignment, .address = {}};
      for (int i = 0; i < matrix; ++i) {
        // Out-of-bounds addresses are clamped to the tile's last row, or to the start of the step.
        std::int64_t across = x + dx + (along_k ? i : 0);
        if (clamped && across >= o.extent) across = along_k ? o.extent - 1 : x;
        at[o.k_dim] = k + dk + (along_k ? 0 : i), at[o.other_dim] = o.first + across;
        rows.address.push_back(o.buffer.offset + offset_of(o.buffer, at) * graph::bytes(o.buffer.dtype));
      }
      const Wavefronts w = evaluate(rows);
      counts[Counter::ldmatrix_wavefronts] += times * w.total;
      counts[Counter::ldmatrix_wavefronts_ideal] += times * w.ideal;
    }
}

/// The in-bounds extent of a dimension of a load's tile for a block along the grid's axis.
std::uint64_t found_along(const Node& n, std::size_t d, std::int64_t tile, std::int64_t loop,
                          std::int64_t iteration) {
  const Split& s = n.splits[d];
  if (s.loop) tile = tile * loop + iteration;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(s.extent - tile * s.tile, 0, n.shape[d]));
}

/// The in-bounds elements of a load's tile, summed over the blocks along one grid axis, for the dimensions
/// that follow that axis (-1: none).
std::uint64_t found(const Node& n, int axis, std::int64_t blocks, std::int64_t loop, std::int64_t iteration) {
  // Dimensions by the digit of the block index that they follow. Distinct digits of one index take all
  // combinations equally often, so the sum over all blocks is a product of sums over digits.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> digits;  // by div and mod
  for (std::size_t d = 0; d < n.splits.size(); ++d)
    if (n.splits[d].axis == axis)
      digits[axis < 0 ? std::pair<std::int64_t, std::int64_t>{1, 1}
                      : std::pair{n.splits[d].div, n.splits[d].mod}]
          .push_back(d);
  const auto product = [&](const std::vector<std::size_t>& dims, std::int64_t tile) {
    std::uint64_t all = 1;
    for (std::size_t d : dims) all *= found_along(n, d, tile, loop, iteration);
    return all;
  };
  std::int64_t minimum = 1;  // a divisor of the next digit's div
  bool separate = true;
  std::uint64_t sum = 1;
  std::int64_t times = blocks;
  for (const auto& [digit, dims] : digits) {
    const auto [div, mod] = digit;
    const std::int64_t range = mod > 0 ? mod : std::max<std::int64_t>(blocks / div, 1);
    separate = separate && div % minimum == 0 && times % range == 0 && blocks % (div * range) == 0;
    if (!separate) break;
    minimum = div * range, times /= range;
    std::uint64_t here = 0;
    for (std::int64_t tile = 0; tile < range; ++tile) here += product(dims, tile);
    sum *= here;
  }
  if (separate) return sum * static_cast<std::uint64_t>(times);
  sum = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::uint64_t all = 1;
    for (const auto& [digit, dims] : digits) {
      const std::int64_t tile = block / digit.first;
      all *= product(dims, digit.second > 0 ? tile % digit.second : tile);
    }
    sum += all;
  }
  return sum;
}

class Prediction {
 public:
  explicit Prediction(const KernelPlan& plan) : plan_(plan), of_task_(plan.tasks.size()) {}

  Counts run() {
    for (Counter c : {Counter::barrier,
                      Counter::mma,
                      Counter::ldmatrix,
                      Counter::ldmatrix_wavefronts,
                      Counter::ldmatrix_wavefronts_ideal,
                      Counter::cp_async_4,
                      Counter::cp_async_8,
                      Counter::cp_async_16,
                      Counter::cp_async_source_bytes,
                      Counter::cp_async_wavefronts,
                      Counter::cp_async_wavefronts_ideal,
                      Counter::wgmma,
                      Counter::mbarrier_arrive,
                      Counter::mbarrier_wait,
                      Counter::tma_load,
                      Counter::tma_load_bytes,
                      Counter::tma_store,
                      Counter::tma_store_bytes,
                      Counter::cluster_barrier,
                      Counter::griddep_wait,
                      Counter::griddep_launch_dependents})
      counts_[c] = 0;
    for (unsigned c = unsigned(Counter::shared_load_1); c <= unsigned(Counter::shared_store_16); ++c)
      counts_[Counter(c)] = 0;
    for (Counter c : shared_wavefronts) counts_[c] = 0;
    blocks_ = plan_.blocks > 0 ? plan_.blocks : plan_.program.grid.count();
    std::map<int, std::uint64_t> barriers;  // by id; agents that share a barrier arrive together
    barriers[0] = outside_agents(plan_.schedule.setup) + outside_agents(plan_.schedule.teardown);
    for (const Agent& agent : plan_.schedule.agents) {
      met_.clear(), unsynced_.clear(), ragged_.clear();
      steps(agent, agent.steps, 0, 1);
      for (const auto& [id, n] : met_) barriers[id] = std::max(barriers[id], n);
    }
    for (const auto& [id, n] : barriers) counts_[Counter::barrier] += n;
    if (!shared_exact_)
      for (unsigned c = unsigned(Counter::shared_load_1); c <= unsigned(Counter::shared_store_16); ++c)
        counts_.erase(Counter(c));
    if (!shared_exact_ || shared_mixed_)
      for (Counter c : shared_wavefronts) counts_.erase(c);
    if (lanes_drift_)
      counts_.erase(Counter::cp_async_wavefronts), counts_.erase(Counter::cp_async_wavefronts_ideal);
    counts_[Counter::cp_async_source_bytes] = source_bytes_;
    return std::move(counts_);
  }

 private:
  /// Steps in one iteration of a loop with this trip count.
  void steps(const Agent& agent, const std::vector<Step>& list, std::int64_t iteration,
             std::int64_t trip_count) {
    std::size_t counted_until = 0;
    const auto threads = [&] {
      return fills_only(agent)                   ? 1
             : plan_.schedule.warp_specialized() ? 32 * agent.warps
                                                 : plan_.schedule.threads;
    };
    for (std::size_t at = 0; at < list.size(); ++at) {
      const Step& step = list[at];
      match(
          step, [&](const Loop& of) { loop(agent, of, iteration, trip_count); },
          [&](const Acquire& of) { acquire(agent, plan_.schedule.channels[of.channel]); },
          [&](const Release& of) {
            const bool exchange = is_exchange(plan_.schedule.channels[of.channel]);
            counts_[Counter::mbarrier_arrive] +=  // one lane of each
                blocks_ * agent.warps *
                (exchange ? plan_.schedule.ranks - 1 : ranks_of(plan_.schedule, of.channel));
          },
          [&](const Drain& of) {
            counts_[Counter::mbarrier_wait] += blocks_ * plan_.schedule.channels[of.channel].stages;
          },
          [&](const GriddepWait&) { counts_[Counter::griddep_wait] += blocks_ * threads(); },
          [&](const GriddepLaunchDependents&) {
            counts_[Counter::griddep_launch_dependents] += blocks_ * threads();
          },
          [&](const Barrier& barrier) {
            if (!barrier.waits) return;
            met_[barrier.id] += blocks_;
            unsynced_.clear(), ragged_.clear();
          },
          [&](const Start&) { shared({step.task}, true); },
          [&](const Mma&) {
            const MatmulChoice& m = plan_.matmuls.at(plan_.tasks[step.task].node);
            counts_[Counter::wgmma] += blocks_ * ceil_div(m.k, m.row->k) * (m.m / m.row->m);
          },
          [&](const OneOf<Copy, Compute> auto& of) {
            if (step.task < 0 || iteration + of.guard_lag >= trip_count) return;
            task(step);
            // The first of adjacent steps counts for all of their nests.
            if (at < counted_until) return;
            const std::vector<int> tasks = side_by_side(plan_, list, at);
            for (const std::vector<int>& nest : nests(plan_, tasks)) shared(nest, false);
            counted_until = at + tasks.size();
          },
          [](const OneOf<Commit, WaitGroup, MbarrierInit, FenceInit, FenceProxy, WarpBarrier,
                         ClusterBarrier> auto&) {});
    }
  }

  void loop(const Agent& agent, const Loop& of, std::int64_t iteration, std::int64_t trip_count) {
    if (of.kind == Loop::tiles) {  // shared among the blocks
      const std::uint64_t each = std::exchange(blocks_, plan_.program.grid.count() * plan_.split_k);
      steps(agent, of.body, 0, 1);
      blocks_ = each;
    } else if (of.kind == Loop::slices) {  // a task of a slice is counted with all its slices
      steps(agent, of.body, iteration, trip_count);
    } else {
      for (std::int64_t i = of.from; i < of.trip_count; ++i) {
        const std::uint64_t all = blocks_;
        if (of.bounded) blocks_ = executing(i);
        steps(agent, of.body, i, of.trip_count);
        blocks_ = all;
      }
    }
  }

  /// Number of blocks that run an iteration.
  std::uint64_t executing(std::int64_t iteration) const {
    const BlockProgram& p = plan_.program;
    const int axis = plan_.loop_bounds->rows.axis;
    std::uint64_t blocks = 0;
    for (std::int64_t block = 0; block < p.grid[axis]; ++block)
      blocks += plan_.loop_bounds->of(block, p.loop) > iteration;
    return blocks * static_cast<std::uint64_t>(p.grid.count() / p.grid[axis]);
  }

  /// One thread initialises the mbarriers; the blocks of a cluster synchronise together.
  std::uint64_t outside_agents(const std::vector<Step>& steps) {
    std::uint64_t barriers = 0;
    for (const Step& step : steps)
      if (const MbarrierInit* init = as<MbarrierInit>(step))
        for (Counter counter : {Counter::shared_store_8, Counter::shared_store_wavefronts,
                                Counter::shared_store_wavefronts_ideal})
          counts_[counter] +=
              blocks_ * static_cast<std::uint64_t>(barrier_bytes(plan_.schedule.channels[init->channel]) / 8);
      else if (as<Barrier>(step))
        barriers += blocks_;
      else if (as<ClusterBarrier>(step))
        counts_[Counter::cluster_barrier] += blocks_ / plan_.schedule.ranks;
    return barriers;
  }

  /// All threads of a consumer wait; for a producer one thread, which then expects the stage's bytes.
  void acquire(const Agent& agent, const Channel& c) {
    const bool fills = &plan_.schedule.agents[c.producer] == &agent && !is_exchange(c);
    counts_[Counter::mbarrier_wait] += blocks_ * (fills ? 1 : 32 * agent.warps);
    counts_[Counter::mbarrier_arrive] += blocks_ * fills;
  }

  void task(const Step& step) {
    std::optional<Counts>& known = of_task_[step.task];
    const Task& t = plan_.tasks[step.task];
    const bool copies = as<Copy>(step);
    if (copies && plan_.uses_tma(t.node)) {
      tma_copy(t);
    } else if (copies) {
      if (!known) known = copied(t);
      // The emulator groups the lanes' n-th copies since the last barrier; lanes with fewer copies lag.
      if (last_is_part_of_a_warp(t) && !unsynced_.insert(step.task).second) lanes_drift_ = true;
      source_bytes_ += source_bytes(t.node, executed_[step.task]++);
    } else if (t.kind == TaskKind::mma) {
      if (!known) known = multiplied(t);
    }
    if (known) add(counts_, *known, blocks_);
  }

  /// Ordinary shared-memory accesses of tasks that are evaluated together.
  void shared(const std::vector<int>& tasks, bool start) {
    const auto [entry, fresh] = shared_.try_emplace({tasks.front(), start});
    if (fresh) entry->second = start ? count_start(plan_, tasks.front()) : count_shared(plan_, tasks);
    const SharedCounts& s = entry->second;
    shared_exact_ = shared_exact_ && s.exact;
    shared_mixed_ = shared_mixed_ || s.mixed || (s.ragged && !ragged_.insert(entry->first).second);
    const auto [in, all] = tiles_in(slices(plan_, plan_.tasks[tasks.front()]));
    add(counts_, s.counts, blocks_ * in / all);
  }

  /// The bytes that all blocks read in a task's copy of this index, which is the iteration for which it
  /// copies, whatever the prefetch distance. Each dimension follows one axis, so the sum over blocks is a
  /// product of sums.
  std::uint64_t source_bytes(int node, std::int64_t iteration) {
    const BlockProgram& p = plan_.program;
    const Node& n = p.nodes[node];
    std::uint64_t product = graph::bytes(n.dtype);
    for (int axis = -1; axis < 3; ++axis) {
      bool moves = false;
      for (const Split& s : n.splits) moves = moves || (s.loop && s.axis == axis);
      std::optional<std::uint64_t>& sum = found_[{node, axis}];
      if (!sum || moves) sum = found(n, axis, axis < 0 ? 1 : p.grid[axis], p.loop, iteration);
      product *= *sum;
    }
    return product;
  }

  /// Boxes are copied completely, with zeros for out-of-bounds elements.
  void tma_copy(const Task& t) {
    const Buffer& b = plan_.buffers[t.buffer];
    const bool load = t.kind == TaskKind::copy_in;
    const auto [in, all] = tiles_in(slices(plan_, t));
    const std::uint64_t blocks = blocks_ * in / all;
    counts_[load ? Counter::tma_load : Counter::tma_store] += blocks * boxes_of_rank(plan_, t.node, b);
    counts_[load ? Counter::tma_load_bytes : Counter::tma_store_bytes] +=
        blocks * b.elements * graph::bytes(b.dtype) /
        (load || !plan_.parts.count(t.node) ? 1 : plan_.schedule.ranks);
  }

  bool last_is_part_of_a_warp(const Task& t) const {
    const Context& c = plan_.contexts[t.context];
    const std::int64_t chunks = c.items(0) / c.vector();
    const int threads = plan_.program.threads();
    return chunks > threads && chunks % threads % 32 != 0;
  }

  /// cp.async, chunk by chunk. Distances of stages are multiples of 128 bytes, so all of them access the same
  /// banks.
  Counts copied(const Task& t) const {
    const Buffer& b = plan_.buffers[t.buffer];
    const CopyChoice& copy = plan_.copies.at(t.node);
    Counts counts;
    BankAccess access{.bytes = copy.bytes, .address = {}};
    std::uint64_t copies = 0;
    for_each_access(plan_.contexts[t.context], [&](const WarpAccess& lanes) {
      access.address.clear();
      for (const Shape& at : lanes) {
        access.address.push_back(at.empty() ? -1 : b.offset + offset_of(b, at) * graph::bytes(b.dtype));
        copies += !at.empty();
      }
      const Wavefronts w = evaluate(access);
      counts[Counter::cp_async_wavefronts] += w.total;
      counts[Counter::cp_async_wavefronts_ideal] += w.ideal;
    });
    if (copies > 0) counts[by_width(Counter::cp_async_1, copy.bytes)] += copies;
    return counts;
  }

  /// Counts the loads of one operand of a batch by the threads of all warps: each warp along N reads a tile
  /// of A, each along M one of B.
  Counts outer(const Task& t, int side, Shape at) const {
    const Node& n = plan_.program.nodes[t.node];
    const MatmulChoice& m = plan_.matmuls.at(t.node);
    const Buffer& buffer = plan_.buffers[plan_.buffer_of.at(n.in[side])];
    const std::size_t rank = n.shape.size(), k_dim = side == 0 ? rank - 1 : rank - 2,
                      x_dim = side == 0 ? rank - 2 : rank - 1;
    const int repeats = plan_.contexts[t.context].repeats(), slices = side == 0 ? 1 : repeats;
    const std::int64_t extent = side == 0 ? m.m : m.n / slices, tile = side == 0 ? m.row->m : m.row->n;
    const auto times = static_cast<std::uint64_t>(side == 0 ? m.warps.n * repeats : m.warps.m);
    at.resize(rank);
    for (std::size_t d = 0; d + 2 < rank; ++d)  // an operand that all batches share has one of them
      if (buffer.padded[d] == 1) at[d] = 0;
    Counts counts;
    for (int slice = 0; slice < slices; ++slice)
      for (std::int64_t k = 0; k < m.k; k += m.row->k)
        for (std::int64_t x = 0; x < extent; x += tile)
          for (const OuterLoad& load :
               outer_loads(*m.row, side, buffer.inner == static_cast<int>(k_dim), x, extent, k)) {
            BankAccess access{.bytes = load.bytes, .address = {}, .load = true};
            for (const OuterLoad::At& lane : load.lanes) {
              at[k_dim] = lane.k, at[x_dim] = slice * extent + lane.x;
              access.address.push_back(buffer.offset + offset_of(buffer, at) * graph::bytes(buffer.dtype));
            }
            const Wavefronts w = evaluate(access);
            counts[by_width(Counter::shared_load_1, static_cast<unsigned>(load.bytes))] += 32 * times;
            counts[Counter::shared_load_wavefronts] += times * static_cast<std::uint64_t>(w.total);
            const int phases =
                std::max(1, load.bytes / 4);  // as in the emulator: merged ones count separately
            counts[Counter::shared_load_wavefronts_ideal] +=
                times * static_cast<std::uint64_t>(std::min(w.total, phases));
          }
    return counts;
  }

  /// Each step of the matmul is executed by one warp; A is loaded by every warp along N, B by every one along
  /// M.
  Counts multiplied(const Task& t) const {
    const Node& n = plan_.program.nodes[t.node];
    const MatmulChoice& m = plan_.matmuls.at(t.node);
    const int rank = static_cast<int>(n.shape.size()), slices = plan_.contexts[t.context].repeats();
    const int m_step = m.row->m, n_step = m.row->n, k_step = m.row->k;
    const std::int64_t columns = m.n / slices, n_tiles = ceil_div(columns, n_step),
                       m_tiles = ceil_div(m.m, m_step);
    const int width = n_tiles > 1 ? tiles_in_unit(*m.row) : 1;
    const auto buffer = [&](int side) -> const Buffer& {
      return plan_.buffers[plan_.buffer_of.at(n.in[side])];
    };
    const Shape batches(n.shape.begin(), n.shape.end() - 2);
    Counts counts;
    if (m.by_threads()) {
      for (std::int64_t b = 0; b < m.batch; ++b)
        for (int side = 0; side < 2; ++side) add(counts, outer(t, side, coordinates(b, batches)), 1);
      return counts;
    }
    for (std::int64_t b = 0; b < m.batch; ++b) {
      Shape all = coordinates(b, batches);
      all.resize(rank);
      const auto at = [&](int side) {  // an operand that all batches share has one of them
        Shape own = all;
        for (int d = 0; d + 2 < rank; ++d)
          if (buffer(side).padded[d] == 1) own[d] = 0;
        return own;
      };
      for (int slice = 0; slice < slices; ++slice)
        for (std::int64_t k = 0; k < m.k; k += k_step) {
          const std::int64_t depth = m.k - k <= k_step / 2 ? k_step / 2 : k_step;
          counts[Counter::mma] += m_tiles * n_tiles;
          if (m.a_from < 0)
            for (std::int64_t i = 0; i < m_tiles; ++i)
              load(counts, *m.load,
                   {buffer(0), rank - 1, rank - 2, m.m, 0, m_step / matrix_side(*m.load), m_step}, at(0), k,
                   i * m_step, depth, m.warps.n);
          for (std::int64_t unit = 0; unit * width < n_tiles; ++unit)
            load(counts, *m.load,
                 {buffer(1), rank - 2, rank - 1, columns, slice * columns, width,
                  tiles_in_unit(*m.row) * n_step},
                 at(1), k, unit * width * n_step, depth, m.warps.m);
        }
    }
    return counts;
  }

  const KernelPlan& plan_;
  std::vector<std::optional<Counts>> of_task_;  // for one execution by one block
  Counts counts_;
  std::map<int, std::uint64_t> met_;      // barriers of the agent, by id
  std::set<int> unsynced_;                // copies since the agent's last barrier
  std::map<int, std::int64_t> executed_;  // by task
  std::uint64_t blocks_ = 1;              // that execute the current steps
  std::uint64_t source_bytes_ = 0;        // of all blocks
  std::map<std::pair<int, int>, std::optional<std::uint64_t>> found_;  // by node and axis
  bool lanes_drift_ = false;
  std::map<std::pair<int, bool>, SharedCounts> shared_;  // by the first task, and whether it is its start
  std::set<std::pair<int, bool>> ragged_;                // executed since the agent's last barrier
  bool shared_exact_ = true, shared_mixed_ = false;
};

}  // namespace

Counts predict(const KernelPlan& plan) { return Prediction(plan).run(); }

std::string print(const Counts& counts) {
  std::string text;
  for (const auto& [counter, n] : counts)
    if (n) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", emulate::name(counter), n);
  return text;
}

}  // namespace zellige::plan
