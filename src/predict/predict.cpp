#include "predict/predict.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "kernel/evaluated_layout.hpp"
#include "kernel/evaluation.hpp"
#include "kernel/operand_loads.hpp"
#include "kernel/sliced.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/widened.hpp"
#include "predict/banks.hpp"
#include "predict/count_columns.hpp"
#include "predict/count_shared.hpp"
#include "target/products.hpp"
#include "verify/verify_limits.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::predict {
namespace {

using emulate::Counter;

/// Adds `times` times the counts of `from` to `to`.
void add(Counts& to, const Counts& from, std::uint64_t times) {
  for (const auto& [counter, n] : from) to[counter] += n * times;
}

/// An operand of a tensor-core matmul in shared memory, and how ldmatrix reads it.
struct MmaOperand {
  const kernel::SmemTensor& buffer;
  int side;                    // 0: A, 1: B
  std::int64_t extent, first;  // number of rows or columns (of one slice of N), and the first of them
  int matrices;                // matrices along M or N per ldmatrix
  // Rows or columns per ldmatrix at full width; addresses are clamped if these do not divide the extent.
  int unit;
};

/// Adds the counters of `times` executions of one ldmatrix of matmul `m` by one warp: instructions and wavefronts. The
/// instruction reads operand `o`: the step over K that begins at index `k`, of the rows of A or columns of B that begin
/// at index `x`. `at` has the batch coordinates.
void load(Counts& counts, const kernel::MatmulChoice& m, const MmaOperand& o, graph::Shape at, std::int64_t k,
          std::int64_t x, std::uint64_t times) {
  const int rows = kernel::matrix_rows(*m.load), columns = kernel::matrix_columns(*m.load, *m.row);
  const bool along_k = o.buffer.along_k(o.side), clamped = o.extent % o.unit != 0;
  const std::int64_t depth = kernel::depth_of_step(m, k);
  counts[Counter::ldmatrix] += times;
  for (int dx = 0; dx < o.matrices * rows; dx += rows)
    for (int dk = 0; dk < depth; dk += columns) {
      BankAccess lines{.bytes = m.load->a.alignment, .address = {}};
      lines.address.reserve(rows);
      for (int i = 0; i < rows; ++i) {
        // Out-of-bounds addresses are clamped to the tile's last row, or to the start of the step.
        std::int64_t across = x + dx + (along_k ? i : 0);
        if (clamped && across >= o.extent) across = along_k ? o.extent - 1 : x;
        at[o.buffer.k_dimension(o.side)] = k + dk + (along_k ? 0 : i);
        at[o.buffer.other_dimension(o.side)] = o.first + across;
        lines.address.push_back(o.buffer.address(at));
      }
      const Wavefronts w = evaluate(lines);
      counts[Counter::ldmatrix_wavefronts] += times * w.total;
      counts[Counter::ldmatrix_wavefronts_ideal] += times * w.ideal;
    }
}

/// Returns the coordinate at which the matrix of a matmul operand begins, for the batch at coordinate `batch`. An
/// operand that all batches share has one matrix.
graph::Shape matrix_of(const kernel::SmemTensor& operand, const graph::Shape& batch) {
  graph::Shape at(operand.padded.size(), 0);
  for (std::size_t d = 0; d < batch.size(); ++d) at[d] = operand.padded[d] == 1 ? 0 : batch[d];
  return at;
}

/// Returns whether a copy takes several rounds of one chunk per thread, and the last leaves lanes of a warp idle.
bool last_is_part_of_a_warp(const kernel::Kernel& kernel, const kernel::Work& t) {
  const kernel::Context& c = kernel.layout_of(t);
  const std::int64_t chunks = c.items(0) / c.vector();
  const int threads = kernel.program.threads();
  return chunks > threads && chunks % threads % 32 != 0;
}

/// Returns the counts of one execution of a cp.async copy by one block: the copies by width and their
/// wavefronts. Stages are multiples of 128 bytes from each other, so all of them use the same banks.
Counts counts_of_copy(const kernel::Kernel& kernel, const kernel::Work& t) {
  const kernel::SmemTensor& b = kernel.tensors[t.tensor];
  Counts counts;
  BankAccess access{.bytes = t.copy.bytes, .address = {}};
  std::uint64_t copies = 0;
  kernel::for_each_access(kernel.layout_of(t), [&](int, const kernel::WarpAccess& lanes) {
    access.address.clear();
    for (const graph::Shape& at : lanes) {
      access.address.push_back(at.empty() ? -1 : b.address(at));
      copies += !at.empty();
    }
    const Wavefronts w = evaluate(access);
    counts[Counter::cp_async_wavefronts] += w.total;
    counts[Counter::cp_async_wavefronts_ideal] += w.ideal;
  });
  if (copies > 0) counts[by_width(Counter::cp_async_1, t.copy.bytes)] += copies;
  return counts;
}

/// Returns the counts of all warps' ordinary loads of operand A (side 0) or B (side 1) of a matmul from shared memory,
/// for the batch at coordinate `batch`. A is read once per warp along N, and B once per warp along M.
Counts counts_of_loads(const kernel::Kernel& kernel, const kernel::Work& t, int side, const graph::Shape& batch) {
  const tile::Node& n = kernel.program.nodes[t.node];
  const kernel::MatmulChoice& m = t.matmul;
  const kernel::SmemTensor& buffer = kernel.tensors[kernel.tensor_of(n.in[side])];
  const int repeats = kernel.layout_of(t).repeats(), slices = side == 0 ? 1 : repeats;
  const std::int64_t extent = side == 0 ? m.m : m.n / slices, tile = side == 0 ? m.row->m : m.row->n;
  const auto times = static_cast<std::uint64_t>(side == 0 ? m.warps.n * repeats : m.warps.m);
  graph::Shape at = matrix_of(buffer, batch);
  Counts counts;
  for (int slice = 0; slice < slices; ++slice)
    for (std::int64_t k = 0; k < m.k; k += m.row->k)
      for (std::int64_t x = 0; x < extent; x += tile)
        for (const kernel::OperandLoad& load : kernel::operand_loads(m, side, buffer.along_k(side), x, extent, k)) {
          BankAccess access{.bytes = load.bytes, .address = {}, .load = true};
          for (const kernel::OperandLoad::At& lane : load.lanes) {
            at[buffer.k_dimension(side)] = lane.k, at[buffer.other_dimension(side)] = slice * extent + lane.x;
            access.address.push_back(buffer.address(at));
          }
          const Wavefronts w = evaluate(access);
          counts[by_width(Counter::shared_load_1, load.bytes)] += 32 * times;
          counts[Counter::shared_load_wavefronts] += times * w.total;
          const int phases = std::max(1, load.bytes / 4);  // merged ones are separate, as in the emulator
          counts[Counter::shared_load_wavefronts_ideal] += times * std::min(w.total, phases);
        }
  return counts;
}

/// Returns the counts of one execution of a matmul by one block: the matrix instructions, if it has any, and the loads
/// of shared memory. A is read once per warp along N, and B once per warp along M.
Counts counts_of_matmul(const kernel::Kernel& kernel, const kernel::Work& t) {
  const tile::Node& n = kernel.program.nodes[t.node];
  const kernel::MatmulChoice& m = t.matmul;
  const int slices = kernel.layout_of(t).repeats();
  const int m_step = m.row->m, n_step = m.row->n;
  const std::int64_t columns = m.n / slices, n_tiles = tile::ceil_div(columns, n_step),
                     m_tiles = tile::ceil_div(m.m, m_step);
  const int width = n_tiles > 1 ? kernel::tiles_in_unit(*m.row) : 1;
  const graph::Shape batches(n.shape.begin(), n.shape.end() - 2);
  Counts counts;
  for (std::int64_t b = 0; b < m.batch; ++b) {
    const graph::Shape batch = graph::coordinates(b, batches);
    for (int side = 0; side < 2; ++side) {
      if (side == 0 && kernel.has_fragments(t.node)) continue;
      if (kernel::widened_operand(kernel.program, t.node, m)) continue;  // by ordinary loads, which are not counted
      const kernel::SmemTensor& buffer = kernel.tensors[kernel.tensor_of(n.in[side])];
      if (!m.by_matrices(buffer.along_k(side))) {
        add(counts, counts_of_loads(kernel, t, side, batch), 1);
        continue;
      }
      const bool a = side == 0;
      const graph::Shape at = matrix_of(buffer, batch);
      MmaOperand o{buffer,
                   side,
                   a ? m.m : columns,
                   0,
                   a ? m_step / kernel::matrix_rows(*m.load) : width,
                   a ? m_step : kernel::tiles_in_unit(*m.row) * n_step};
      const std::int64_t step = a ? m_step : width * n_step, loads = a ? m_tiles : tile::ceil_div(n_tiles, width);
      for (int slice = 0; slice < slices; ++slice, o.first += a ? 0 : columns)
        for (std::int64_t k = 0; k < m.k; k += m.row->k)
          for (std::int64_t i = 0; i < loads; ++i) load(counts, m, o, at, k, i * step, a ? m.warps.n : m.warps.m);
    }
  }
  if (m.pipe() == target::Pipe::tensor)
    counts[Counter::mma] +=
        m.batch * slices * tile::ceil_div(m.k, m.row->k) * m_tiles * n_tiles * target::instructions_in(*m.row);
  return counts;
}

/// Returns the number of blocks that run iteration `iteration` of a loop whose bounds depend on a mask, or, where a size alone
/// decides them, of the largest value of the size.
std::uint64_t blocks_in(const kernel::Kernel& kernel, std::int64_t iteration) {
  const tile::TileProgram& p = kernel.program;
  if (!kernel.loop_bounds) return iteration < p.loop ? static_cast<std::uint64_t>(p.grid.count()) : 0;
  const std::int64_t along = kernel.loop_bounds->row_blocks(p);
  std::uint64_t blocks = 0;
  for (std::int64_t block = 0; block < along; ++block) blocks += kernel.loop_bounds->of(block, p.loop) > iteration;
  return blocks * static_cast<std::uint64_t>(p.grid.count() / along);
}

/// Returns the bytes that all blocks together read from global memory for load `node`'s tile of an iteration.
std::uint64_t source_bytes(const kernel::Kernel& kernel, int node, std::int64_t iteration) {
  const tile::Node& n = kernel.program.nodes[node];
  return n.view.inside(kernel.program, iteration) * static_cast<std::uint64_t>(graph::whole_bytes(n.dtype));
}

/// Walks a kernel's schedule and adds up the emulator's counters.
class Prediction {
 public:
  explicit Prediction(const kernel::Kernel& kernel) : plan_(kernel), columns_(kernel::tensor_columns(kernel)) {}

  /// Returns the counters of one launch (how often it executes each kind of operation), without those that the plan
  /// does not determine exactly.
  Counts run() {
    const auto each = [](Counter first, Counter last, const auto& use) {
      for (unsigned c = unsigned(first); c <= unsigned(last); ++c) use(Counter(c));
    };
    const auto zero = [this](Counter c) { counts_[c] = 0; };
    for (Counter c : {Counter::mma, Counter::ldmatrix, Counter::barrier}) zero(c);
    each(Counter::shared_load_1, Counter::shared_store_16, zero);
    each(Counter::cp_async_4, Counter::cp_async_source_bytes, zero);
    each(Counter::shared_load_wavefronts, Counter::cp_async_wavefronts_ideal, zero);
    each(Counter::stmatrix, Counter::griddep_launch_dependents, zero);
    blocks_ = plan_.blocks > 0 ? plan_.blocks : plan_.program.grid.count();
    std::map<int, std::uint64_t> barriers;  // by id; agents that share a barrier arrive together
    barriers[0] = outside_agents(plan_.setup) + outside_agents(plan_.teardown);
    if (!columns_.none()) add(counts_, counts_of_columns(columns_), blocks_);
    for (const kernel::Agent& agent : plan_.agents) {
      met_.clear(), unsynced_.clear(), ragged_.clear();
      steps(agent, agent.steps, 0, 1);
      for (const auto& [id, n] : met_) barriers[id] = std::max(barriers[id], n);
    }
    for (const auto& [id, n] : barriers) counts_[Counter::barrier] += n;
    const auto drop = [this](Counter c) { counts_.erase(c); };
    if (!shared_exact_) each(Counter::shared_load_1, Counter::shared_store_16, drop);
    if (!shared_exact_) each(Counter::stmatrix, Counter::stmatrix_wavefronts_ideal, drop);
    if (!shared_exact_ || shared_mixed_)
      each(Counter::shared_load_wavefronts, Counter::shared_store_wavefronts_ideal, drop);
    if (lanes_drift_) each(Counter::cp_async_wavefronts, Counter::cp_async_wavefronts_ideal, drop);
    counts_[Counter::cp_async_source_bytes] = source_bytes_;
    return std::move(counts_);
  }

 private:
  /// Counts the operations that the steps `list` of warp role `agent` execute in iteration `iteration` of a loop of
  /// `trip_count` iterations.
  void steps(const kernel::Agent& agent, const std::vector<kernel::Step>& list, std::int64_t iteration,
             std::int64_t trip_count) {
    std::size_t counted_until = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
      const kernel::Step& step = list[at];
      kernel::match(
          step, [&](const kernel::Loop& of) { loop(agent, of, iteration, trip_count); },
          [&](const kernel::Acquire& of) { acquire(agent, plan_.channels[of.channel]); },
          [&](const kernel::Release& of) {
            if (kernel::multiplies_into(plan_, agent) >= 0) return;  // its products arrive
            const bool exchange = kernel::is_exchange(plan_.channels[of.channel]);
            counts_[Counter::mbarrier_arrive] +=  // one lane of each warp arrives
                blocks_ * agent.warps * (exchange ? plan_.cluster - 1 : kernel::cluster_of(plan_, of.channel));
          },
          [&](const kernel::Drain& of) {
            counts_[Counter::mbarrier_wait] += blocks_ * plan_.channels[of.channel].stages;
          },
          [&](const kernel::GriddepWait&) {
            counts_[Counter::griddep_wait] += blocks_ * kernel::issuers(plan_, agent);
          },
          [&](const kernel::GriddepLaunchDependents&) {
            counts_[Counter::griddep_launch_dependents] += blocks_ * kernel::issuers(plan_, agent);
          },
          [&](const kernel::Barrier& barrier) {
            if (!barrier.waits) return;
            met_[barrier.id] += blocks_;
            unsynced_.clear(), ragged_.clear();
          },
          [&](const kernel::Mma&) {
            add(counts_, counts_of_step(columns_, step.work.matmul), blocks_);
            multiplying_[step.work.node] = std::max(multiplying_[step.work.node], blocks_);
          },
          [&](const kernel::WaitGroup& wait) {
            if (columns_.none() || verify::groups_of(plan_, agent, step) != verify::Groups::wgmma) return;
            counts_[Counter::mbarrier_wait] += blocks_ * 32 * agent.warps;
            if (!kernel::loads_columns(wait, loops_ > 0)) return;
            for (const auto& [product, first] : columns_.first)
              add(counts_, counts_of_load(columns_, plan_.product_of(product)->matmul),
                  std::min(blocks_, multiplying_[product]));
          },
          [&](const kernel::Start&) { shared(kernel::StepSpan(&step, 1), true); },
          [&](const kernel::OneOf<kernel::Copy, kernel::Compute> auto& of) {
            if (step.work.node < 0 || iteration + of.guard_lag >= trip_count) return;
            work(step);
            // The first of several adjacent steps counts the accesses of all their loop nests.
            if (at < counted_until) return;
            const kernel::StepSpan together = kernel::side_by_side(plan_, list, at);
            for (const kernel::StepSpan& nest : kernel::nests(plan_, together)) shared(nest, false);
            counted_until = at + together.size();
          },
          [](const kernel::OneOf<kernel::Commit, kernel::MbarrierInit, kernel::FenceInit, kernel::FenceProxy,
                                 kernel::WarpBarrier, kernel::ClusterBarrier> auto&) {});
    }
  }

  void loop(const kernel::Agent& agent, const kernel::Loop& of, std::int64_t iteration, std::int64_t trip_count) {
    if (of.kind == kernel::Loop::tiles) {  // the blocks share the tiles
      const std::uint64_t each = std::exchange(blocks_, plan_.program.grid.count() * plan_.parts_of_loop());
      steps(agent, of.body, 0, 1);
      blocks_ = each;
    } else if (of.kind == kernel::Loop::slices) {  // a sliced matmul's work counts all its slices at once
      steps(agent, of.body, iteration, trip_count);
    } else {
      for (std::int64_t i = of.from; i < of.trip_count; ++i) {
        const std::uint64_t all = blocks_;
        if (of.bounded) blocks_ = blocks_in(plan_, i);
        ++loops_, steps(agent, of.body, i, of.trip_count), --loops_;
        blocks_ = all;
      }
    }
  }

  /// Counts the operations of the steps before and after the code of the warp roles: the initialisation of mbarriers,
  /// by one thread, and cluster barriers, once per cluster. Returns the number of block-wide barriers in these steps,
  /// summed over all blocks.
  std::uint64_t outside_agents(const std::vector<kernel::Step>& steps) {
    std::uint64_t barriers = 0;
    for (const kernel::Step& step : steps)
      if (const kernel::MbarrierInit* init = kernel::as<kernel::MbarrierInit>(step))
        for (Counter counter :
             {Counter::shared_store_8, Counter::shared_store_wavefronts, Counter::shared_store_wavefronts_ideal})
          counts_[counter] +=
              blocks_ * static_cast<std::uint64_t>(kernel::barrier_bytes(plan_.channels[init->channel]) / 8);
      else if (kernel::as<kernel::Barrier>(step))
        barriers += blocks_;
      else if (kernel::as<kernel::ClusterBarrier>(step))
        counts_[Counter::cluster_barrier] += blocks_ / plan_.cluster;
    return barriers;
  }

  /// Counts the operations of an acquire, by which warp role `agent` waits for a stage of channel c. If the role is a consumer, all its
  /// threads wait, and load a set of columns. If it is the producer of a ring, it arrives with the expected bytes of the stage.
  void acquire(const kernel::Agent& agent, const kernel::Channel& c) {
    const bool fills = &plan_.agents[c.producer] == &agent && !kernel::is_exchange(c);
    counts_[Counter::mbarrier_wait] += blocks_ * (fills ? 1 : kernel::issuers(plan_, agent));
    if (!kernel::in_columns(c)) counts_[Counter::mbarrier_arrive] += blocks_ * fills;
    if (kernel::in_columns(c) && !fills) add(counts_, counts_of_set(columns_, plan_), blocks_);
  }

  /// Counts the copies or matrix instructions of a step. Called each time that the step is executed.
  void work(const kernel::Step& step) {
    const kernel::Work& t = step.work;
    std::optional<Counts>& known = of_work_[t];
    const bool copies = kernel::as<kernel::Copy>(step);
    if (copies && t.copy.by_tensor_map()) {
      tma_copy(t);
    } else if (copies) {
      if (!known) known = counts_of_copy(plan_, t);
      // The emulator combines the n-th copies of a warp's lanes since the last barrier; a lane with fewer
      // copies falls back, and the combinations differ from those of the plan.
      if (last_is_part_of_a_warp(plan_, t) && !unsynced_.insert(t).second) lanes_drift_ = true;
      source_bytes_ += source_bytes(plan_, t.node, executed_[t]++);
    } else if (t.kind == kernel::WorkKind::mma && !known) {
      known = counts_of_matmul(plan_, t);
    }
    if (known) add(counts_, *known, blocks_);
  }

  /// Counts the ordinary shared-memory accesses of steps that are evaluated in one loop nest. If `start` is true, it is a
  /// single step, and the accesses are those that initialise its loop state.
  void shared(kernel::StepSpan steps, bool start) {
    const kernel::Work& first = steps.front().work;
    const auto [entry, fresh] = shared_.try_emplace({first, start});
    if (fresh) entry->second = start ? count_start(plan_, first) : count_shared(plan_, steps);
    const SharedCounts& s = entry->second;
    shared_exact_ = shared_exact_ && s.exact;
    shared_mixed_ = shared_mixed_ || s.mixed || (s.ragged && !ragged_.insert(entry->first).second);
    const auto [in, all] = kernel::tiles_in(kernel::slices(plan_, first));
    add(counts_, s.counts, blocks_ * in / all);
  }

  /// Counts a TMA load or store and its bytes. Boxes are copied completely: elements beyond the tensor count as well.
  void tma_copy(const kernel::Work& t) {
    const kernel::SmemTensor& b = plan_.tensors[t.tensor];
    const bool load = t.kind == kernel::WorkKind::copy_in;
    const auto [in, all] = kernel::tiles_in(kernel::slices(plan_, t));
    const std::uint64_t blocks = blocks_ * in / all;
    counts_[load ? Counter::tma_load : Counter::tma_store] += blocks * kernel::boxes_of_block(plan_, t);
    counts_[load ? Counter::tma_load_bytes : Counter::tma_store_bytes] +=
        blocks * b.stage_bytes() / (load || t.part < 0 ? 1 : plan_.cluster);
  }

  const kernel::Kernel& plan_;
  std::map<kernel::Work, std::optional<Counts>> of_work_;  // counts of one execution by one block
  const kernel::TensorColumns columns_;
  std::map<int, std::uint64_t> multiplying_;  // by product in tensor memory: the blocks that have issued one
  int loops_ = 0;                             // open loops over iterations
  Counts counts_;
  std::map<int, std::uint64_t> met_;               // barriers of the current agent, by barrier id
  std::set<kernel::Work> unsynced_;                // works that copied since the current agent's last barrier
  std::map<kernel::Work, std::int64_t> executed_;  // number of executions
  std::uint64_t blocks_ = 1;                       // number of blocks that execute the current steps
  std::uint64_t source_bytes_ = 0;                 // bytes that all blocks read by cp.async
  bool lanes_drift_ = false;                       // cp.async wavefronts are not predictable
  // By the first work of a loop nest, and whether it initialises a state.
  std::map<std::pair<kernel::Work, bool>, SharedCounts> shared_;
  // Nests with a partial warp that ran since the agent's last barrier.
  std::set<std::pair<kernel::Work, bool>> ragged_;
  bool shared_exact_ = true, shared_mixed_ = false;
};

}  // namespace

Counts predict(const kernel::Kernel& kernel) {
  if (kernel.loop_bounds && kernel.loop_bounds->reads()) return {};  // how many iterations run, only the device knows
  return Prediction(kernel).run();
}

std::string print(const Counts& counts) {
  std::string text;
  for (const auto& [counter, n] : counts)
    if (n) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", emulate::name(counter), n);
  return text;
}

}  // namespace zellige::predict
