#include "plan/agents.hpp"

#include <algorithm>
#include <span>

#include "plan/agent_steps.hpp"
#include "selection/select.hpp"
#include "target/handover.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {
namespace {

/// Builds the warp roles of one kernel; see build_agents().
class AgentBuilder : AgentSteps {
 public:
  AgentBuilder(kernel::Kernel& plan, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
               const target::Target& target, bool barrier_after_loop)
      : AgentSteps(plan, tasks), phases_(phases), target_(target), barriers_(loop_barriers(plan, tasks, phases)) {
    barriers_.after = barriers_.after || barrier_after_loop;
  }

  void build() {
    plan_.threads = plan_.program.threads();
    plan_.agents.clear(), plan_.channels.clear(), plan_.setup.clear(), plan_.teardown.clear();
    agent_.warps = (plan_.program.threads() + 31) / 32;
    if (std::ranges::any_of(loop_copies_, [&](int t) { return has_own_agent(tasks_[t].copy.row); }))
      return consumer_and_producer();
    agent_.name = "block";
    for (int t : loop_copies_) channel(plan_.tensors[tasks_[t].buffer].name, t, consumer, plan_.stages());
    if (plan_.program.loop > 1) {
      start_states();
      start_copies();
      loop(loop_copies_, phases_.inside);
      if (barriers_.after) barrier();
    }
    straight();
    plan_.agents.push_back(std::move(agent_));
  }

 private:
  /// Returns whether copies by this instruction have an agent of their own: one thread issues them, and they complete at an
  /// mbarrier, at which other agents wait.
  static bool has_own_agent(const Instruction* row) {
    return row && target::issuer(*row) == Issuer::thread && row->completion == kernel::Completion::mbarrier_bytes;
  }

  // ---- the loop ----

  void start_states() {
    for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
      const selection::Task& task = tasks_[t];
      const bool carried = plan_.program.nodes[task.node].carried &&
                           (task.kind == kernel::WorkKind::mma || task.kind == kernel::WorkKind::reduce);
      if (!carried && task.kind != kernel::WorkKind::accumulate) continue;
      kernel::Step& s = start(t);
      if (task.kind == kernel::WorkKind::accumulate && task.buffer >= 0) s.writes.push_back({task.buffer, 0, true});
    }
  }

  /// Adds `copies`, with `ends` as a group, in a loop over the iterations from <= i < to of a pipeline's prologue. If `to`
  /// is 1, adds them without a loop; if the range is empty, adds nothing.
  void prologue(int from, int to, const std::vector<int>& copies, bool ends = true) {
    if (from >= to) return;
    if (to > 1) open({.kind = kernel::Loop::prologue, .trip_count = to, .from = from});
    for (int t : copies) run(t);
    if (ends) commit();
    if (to > 1) close();
  }

  /// Adds the steps that start two sets of copies: those of tiles that are loaded once before the loop, and those of
  /// the tiles of the loop's first `lag` iterations. Copies of constant inputs start before the wait for earlier
  /// kernels if they are in the first set, or in the first half of the `lag` iterations. All other copies start after
  /// the wait.
  void fill(int lag) {
    const bool streams = !loop_copies_.empty();
    std::vector<int> early, delayed;
    for (int t : loop_copies_) (tasks_[t].constant ? early : delayed).push_back(t);
    const bool constants_first = plan_.programmatic && !early.empty();
    const int first = constants_first ? tile::ceil_div(lag, 2) : 0;  // iterations whose constants are loaded early
    for (int t : before_)
      if (tasks_[t].constant) run(t);
    prologue(0, first, early, false);
    depend();
    for (int t : before_)
      if (!tasks_[t].constant) run(t);
    if (!streams) return;
    // A group of its own, so that it is waited for before the first iteration's copies.
    if (!phases_.before.empty() || (lag == 0 && !before_.empty())) commit();
    prologue(0, first, delayed);
    prologue(first, lag, loop_copies_);
  }

  /// Returns whether all of the loop's copies start before the loop, because each iteration has a stage of its own.
  bool all_prefetched() const { return plan_.stages() == plan_.program.loop; }
  /// Number of iterations by which an agent's copies for itself precede the work that reads them. The stage that is
  /// read is not refilled.
  int lag() const { return all_prefetched() ? plan_.stages() : plan_.stages() - 1; }

  /// Adds all that an agent that copies for itself does between the start of its loop's states and the loop: copies, and
  /// the work on tiles that are loaded once.
  void start_copies() {
    const bool once = !before_.empty(), streams = !loop_copies_.empty();
    fill(lag());
    if (once && !streams) commit(), arrive();
    // Meanwhile the groups of the loop's first iterations stay in flight.
    if (!phases_.before.empty() && streams) arrive(lag());
    for (const selection::Phase& phase : phases_.before) barrier(), work(phase);
    if (barriers_.before) barrier();
  }

  /// Adds the copies of one iteration, and the agent's wait for the tiles of this iteration if it copies for itself.
  /// Copies with an agent of their own start as soon as their stage is empty. Others (cp.async) start lag() iterations
  /// before their tile is read; the barrier after the wait also says that the stage that they overwrite has been read.
  void copies_of_iteration(const std::vector<int>& tasks) {
    const bool streams = !tasks.empty();
    if (streams && has_own_agent(tasks_[tasks.front()].copy.row)) {
      int filled = -1;
      for (int t : tasks) {
        const int into = tasks_[t].node == second_tile_ ? second_ : ring_;
        if (into != filled) acquire(filled = into);
        run(t).is = kernel::Copy{.channel = into, .multicast = tasks_[t].part >= 0};
      }
      return;
    }
    if (streams && lag() > 0) arrive(lag() - 1);
    if (barriers_.top) barrier();
    if (!streams) return;
    if (!all_prefetched())
      for (int t : tasks) run(t, lag());
    commit();
    if (lag() > 0) return;
    arrive();
    if (barriers_.top) barrier();
  }

  /// Adds the matmuls, which read stages of the channel `from`, as one group.
  void issue(const std::vector<int>& products, int from, int lag, const kernel::Mma& mma) {
    acquire(from);
    for (int product : products) {
      kernel::Step& s = run(product);
      s.is = mma;
      for (kernel::Access& a : s.reads) a.lag = lag;
    }
    commit(mma.channel);
  }

  enum class Stretch : std::uint8_t { before, inside, after };

  /// Adds the loop of an agent that does these copies and phases in each iteration: a software pipeline. Work of an
  /// instruction that completes later starts in an earlier iteration than the one that waits for it:
  ///
  /// - Copies, as copies_of_iteration() says. After the last iteration a guard skips them.
  /// - Asynchronous matmuls one iteration early, since one set of registers holds their results. Iterations are peeled:
  ///   what of the first one starts early is before the loop, and what of the last one starts late after it. A guard
  ///   would be a condition around wgmma, where ptxas adds fences of its own and serialises them.
  ///   - If no work of the loop reads the sums: iteration i issues the matmuls of iteration i + 1, and waits for those of
  ///     iteration i.
  ///   - If two are chained (attention): iteration i issues the second matmul of iteration i - 1, which runs while the
  ///     elementwise work (softmax) of iteration i is done. The results of this work are written to the second matmul's
  ///     A registers only after that matmul has ended.
  void loop(const std::vector<int>& copied, const std::vector<selection::Phase>& phases) {
    selection::Phase first, second;     // asynchronous matmuls; `second` are those that are chained
    selection::Phase meanwhile, after;  // the work between them, before and after the end of `second`
    for (const selection::Phase& phase : phases)
      for (int t : phase) {
        const selection::Task& task = tasks_[t];
        const bool changes =
            task.kind == kernel::WorkKind::to_operand || task.kind == kernel::WorkKind::rescale;  // what `second` uses
        if (task.matmul.asynchronous())
          (task.matmul.chained() ? second : first).push_back(t);
        else if (sums_ >= 0)
          (changes ? after : meanwhile).push_back(t);
      }
    const bool has_first = !first.empty(), chain = !second.empty();
    const std::span<const selection::Phase> works = has_first ? std::span(&meanwhile, 1) : std::span(phases);
    const int of_first = chain ? scores_ : sums_;
    const auto add = [&](Stretch at) {
      const bool inside = at == Stretch::inside, early = at != Stretch::after, after_start = at != Stretch::before;
      if (inside) copies_of_iteration(copied);
      if (early && has_first)
        issue(first, ring_, !chain && inside ? 1 : 0, {.channel = of_first, .peeled = !chain && !inside});
      if (after_start && chain) issue(second, second_, -1, {.channel = sums_, .pipelined = true});
      if (chain ? early : after_start) {
        if (has_first) {
          arrive(inside ? 1 : 0, of_first);  // the group that was started last runs on
          // Without a chain no agent waits for the last stage, if the ring is not to be empty in the end.
          if (early ? goes_round() : emptied()) release(ring_);
        }
        for (const selection::Phase& phase : works) {
          if (&phase != works.data()) barrier();
          work(phase, of_first);
        }
      }
      if (after_start && chain) {
        arrive(0, sums_);
        if (goes_round()) release(second_);
      }
      if (early) work(after, sums_);
    };
    for (int t : after)
      if (tasks_[t].kind == kernel::WorkKind::to_operand) start(t);
    // The loop counts the iterations of what starts late; with a chain those of the work between the matmuls, which is
    // evaluated at its iteration before and after the loop, too.
    const std::int64_t n = plan_.iterations_per_rank(), from = chain ? 1 : 0;
    const auto peel = [&](Stretch at, std::int64_t iteration) {
      if (chain) open({.trip_count = iteration + 1, .from = iteration});
      add(at);
      if (chain) close();
    };
    if (has_first) peel(Stretch::before, 0);
    const bool some_whole = has_first && plan_.loop_bounds && plan_.loop_bounds->all;
    for (const bool whole : {true, false}) {
      if (whole && !some_whole) continue;
      open({.trip_count = n - (has_first ? 1 : 0) + from,
            .from = !whole && some_whole ? n : from,
            .bounded = plan_.loop_bounds.has_value(),
            .whole = whole});
      add(Stretch::inside);
      close();
    }
    if (!has_first) return;
    if (plan_.blocks > 0 && resident_ >= 0) release(resident_);
    peel(Stretch::after, n);
  }

  // ---- a producer and a consumer ----

  static constexpr int consumer = 0, producer = 1;
  static constexpr int consumer_barrier = 1;

  /// Adds the channel that task `t` of agent `from` fills, and returns its index. A copy through registers is waited for as
  /// if it were a cp.async.
  int channel(std::string name, int t, int from, int stages = 1) {
    const selection::Task& task = tasks_[t];
    const Instruction* row = task.kind == kernel::WorkKind::mma ? task.matmul.row : task.copy.row;
    const kernel::Synchronisation by =
        task.kind == kernel::WorkKind::to_cluster
            ? kernel::Synchronisation::mbarrier_cluster
            : kernel::synchronisation(row ? row->completion : kernel::Completion::copy_group);
    plan_.channels.push_back({std::move(name), task.buffer, stages, from, {consumer}, by});
    return static_cast<int>(plan_.channels.size()) - 1;
  }

  // Registers per thread. With over `many` accumulators setmaxnreg moves some from producer to consumer.
  static constexpr int many = 96, max_registers = 232, spared = 40;

  /// Builds a TMA producer and wgmma consumer warps.
  void consumer_and_producer() {
    kernel::Agent loads{.name = "producer", .warps = 1, .steps = {}};
    agent_.name = "consumer";
    std::int64_t sums = 0;
    const auto count = static_cast<int>(tasks_.size());
    int product = -1;  // one of the matmuls
    for (int t = 0; t < count; ++t)
      if (const kernel::MatmulChoice& m = tasks_[t].matmul; m.asynchronous())
        sums += selection::accumulator_registers(m, m.warps), product = t;
    const int group = kernel::warps_of(*tasks_[product].matmul.row);
    // True if 232 registers (max_registers) for every thread would exceed the multiprocessor's registers. This is not
    // so with four consumer and four producer warps.
    const bool scarce = (plan_.threads + 32 * group) * max_registers > target_.registers_per_multiprocessor;
    if (sums > many && scarce) {
      loads.warps = group, loads.registers = spared;
      agent_.registers = max_registers;
    }
    plan_.threads += 32 * loads.warps;
    ring_ = channel("ring", loop_copies_.front(), producer, plan_.stages());
    sums_ = channel("accumulators", product, consumer);
    const auto chained = std::ranges::find_if(tasks_, [](const selection::Task& t) { return t.matmul.chained(); });
    if (chained != tasks_.end()) {
      second_tile_ = plan_.program.nodes[chained->node].in[1];
      scores_ = channel("scores", product, consumer);
      second_ = channel("second ring", loop_copies_.back(), producer, plan_.stages());
    }
    for (int t = 0; t < count; ++t) {
      if (std::ranges::count(loop_copies_, t) == 0 && travels(t) && cp_async_ < 0)
        cp_async_ = channel("tiles", t, consumer);
      if (!copies(t) && uses_tma(t) && stores_ < 0) stores_ = channel("out", t, consumer);
      if (tasks_[t].kind == kernel::WorkKind::to_cluster) exchange_ = channel("exchange", t, consumer);
    }
    std::vector<int> resident, all = loop_copies_;
    bool alone = false;  // the consumer accesses global memory before it has acquired a full stage
    for (int t : before_)
      if (uses_tma(t))
        resident.push_back(t), all.push_back(t);
      else
        alone = alone || copies(t);
    if (!resident.empty()) resident_ = channel("resident", resident.front(), producer);
    // True if the producer waits for earlier kernels, because one of its TMA loads is not of a constant input. The
    // consumer then needs no wait of its own, unless it accesses global memory before it acquires a stage from the
    // producer.
    const bool loads_wait = !std::ranges::all_of(all, [&](int t) { return tasks_[t].constant; });
    waited_ = loads_wait && !alone;
    consume();
    plan_.agents.push_back(std::move(agent_));
    agent_ = std::move(loads);
    waited_ = !loads_wait;
    depend();
    tiles();
    if (resident_ >= 0) acquire(resident_);
    for (int t : resident) run(t).is = kernel::Copy{.channel = resident_};
    loop(loop_copies_, {});
    if (plan_.blocks > 0) close();
    plan_.agents.push_back(std::move(agent_));
  }

  /// Opens the loop over a persistent block's output tiles. Does nothing if blocks are not persistent.
  void tiles() {
    if (plan_.blocks == 0) return;
    open({.kind = kernel::Loop::tiles, .trip_count = tiles_each(), .each = plan_.iterations_per_rank()});
  }

  /// Adds all steps of the consumer warps.
  void consume() {
    barrier_ = consumer_barrier;
    depend();
    tiles();
    if (several_tiles() && std::ranges::any_of(before_, [&](int t) { return !uses_tma(t); }))
      barrier();  // all threads have read the previous tile's copies, which are overwritten now
    start_states();
    bool once = false;  // copies of values that are read after the loop are in flight during the loop
    for (int t : before_)
      if (!uses_tma(t)) run(t), once = once || travels(t);
    if (once) commit(cp_async_);
    if (resident_ >= 0) acquire(resident_);
    loop({}, phases_.inside);
    exchange();
    if (once) arrive(0, cp_async_);
    if (stores_ >= 0 && several_tiles()) arrive(0, stores_);  // the previous TMA store has read its buffer
    if (barriers_.after) barrier();
    straight();
    if (plan_.blocks > 0) close();
    if (stores_ >= 0) arrive(0, stores_);
  }

  /// Maximum number of output tiles that one block computes.
  std::int64_t tiles_each() const {
    return plan_.blocks == 0 ? 1 : tile::ceil_div(plan_.program.grid.count() * plan_.parts_of_loop(), plan_.blocks);
  }
  bool several_tiles() const { return tiles_each() > 1; }
  /// Returns whether the consumer also releases the ring stages of an output tile's last iterations. It does if the
  /// producer fills them for the block's next output tile. It also does if blocks of a cluster share loads: the
  /// producer must not exit while other blocks have yet to arrive at this block's mbarriers.
  bool emptied() const { return several_tiles() || plan_.ranks > plan_.parts_of_loop(); }
  /// Returns whether the consumer must release ring stages, because the producer waits until they are empty: the ring
  /// has fewer stages than the loop has iterations, or emptied() is true.
  bool goes_round() const { return emptied() || plan_.iterations_per_rank() > plan_.stages(); }

  /// Adds split-K's exchange within a cluster: each block sends its partial sums to the blocks that store the result,
  /// and receives the other blocks' partial sums of the columns that it stores itself. Does nothing without split-K.
  void exchange() {
    for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
      const kernel::WorkKind kind = tasks_[t].kind;
      if (kind != kernel::WorkKind::to_cluster && kind != kernel::WorkKind::from_cluster) continue;
      const bool sends = kind == kernel::WorkKind::to_cluster;
      if (!sends) acquire(exchange_);
      kernel::Step& s = run(t);
      s.global = kernel::Global::nothing;
      if (!sends) continue;
      s.is = kernel::Compute{.channel = sums_, .to_cluster = true};
      for (kernel::Access& a : s.writes) a.same_thread = false;
      release(exchange_);
    }
  }

  // ---- phases ----

  /// Adds the steps of the tasks of one phase (between two barriers). A matmul that is computed in slices of N
  /// becomes a loop over the slices, together with the tasks that read each slice's accumulators. `of`: the channel of
  /// the asynchronous matmuls whose accumulators the tasks read.
  void work(const std::vector<int>& tasks, int of = -1) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const selection::Task& task = tasks_[tasks[i]];
      const int slices = task.kind == kernel::WorkKind::mma ? plan_.layout_of(task).repeats() : 1;
      if (slices == 1) {
        kernel::Step& s = run(tasks[i]);
        if (kernel::Compute* compute = kernel::as<kernel::Compute>(s)) compute->channel = of;
        if (kernel::Copy* copy = kernel::as<kernel::Copy>(s)) {
          copy->channel = stores_;
          if (i + 1 == tasks.size() || !uses_tma(tasks[i + 1])) commit(stores_);  // adjacent TMA stores are one group
        }
        continue;
      }
      std::size_t last = i;
      while (last + 1 < tasks.size() && takes_on(task, tasks_[tasks[last + 1]])) ++last;
      for (std::size_t k = i; k <= last; ++k) {
        const selection::Task& sum = tasks_[tasks[k]];  // a reduction over all slices is initialised before them
        if (sum.kind == kernel::WorkKind::reduce && !plan_.program.nodes[sum.node].carried) start(tasks[k]);
      }
      open({.kind = kernel::Loop::slices, .trip_count = slices});
      for (; i < last; ++i) run(tasks[i]);
      run(tasks[i]);
      close();
    }
  }
  /// Returns whether task `next` runs inside the loop over slices of the matmul task `product`: `next` works on the
  /// same accumulators, and is neither a matmul nor the end of a reduction (WorkKind::finish).
  static bool takes_on(const selection::Task& product, const selection::Task& next) {
    return next.context == product.context && next.kind != kernel::WorkKind::finish &&
           next.kind != kernel::WorkKind::mma;
  }

  /// Adds the steps after the loop, or all steps if the kernel has no loop. Waits for pending cp.async copies before
  /// each barrier, and before tasks that read copied tiles without a barrier.
  void straight() {
    bool pending = false;
    const auto settle = [&] {
      if (pending) commit(cp_async_), arrive(0, cp_async_);
      pending = false;
    };
    for (std::size_t i = 0; i < phases_.after.size(); ++i) {
      const std::vector<int>& phase = phases_.after[i];
      if (i > 0) {
        settle();
        // What stores read by the asynchronous proxy, threads have written by the generic one.
        const auto needs_fence = [&](int t) {
          return !copies(t) && target::fence(target::Proxy::generic, target::proxy(tasks_[t].copy.row));
        };
        if (std::ranges::any_of(phase, needs_fence)) step(kernel::FenceProxy{});
        barrier();
      }
      std::vector<int> rest;
      bool reads = false;
      const auto copy = [&](int t) { run(t), pending = pending || travels(t); };
      const bool waits = plan_.programmatic && !waited_;
      for (int t : phase)
        if (waits && tasks_[t].constant) copy(t);
      depend();
      for (int t : phase) {
        if (copies(t)) {
          if (!waits || !tasks_[t].constant) copy(t);
          continue;
        }
        rest.push_back(t);
        for (int w : tasks_[t].after_same) reads = reads || copies(w);
      }
      if (reads) settle();
      work(rest);
    }
  }

  const selection::PhasedTasks& phases_;
  const target::Target& target_;
  LoopBarriers barriers_;
  const std::vector<int>&before_ = phases_.copied_once, &loop_copies_ = phases_.copied_each;
  // Channels: the loop's tiles, accumulators, TMA stores outside the loop, tiles loaded once, split-K's exchange, a
  // chain's; -1: absent.
  int ring_ = -1, sums_ = -1, stores_ = -1, resident_ = -1, exchange_ = -1, scores_ = -1, second_ = -1;
  int second_tile_ = -1;  // the node whose loads fill a chain's second ring
};

}  // namespace

void build_agents(kernel::Kernel& plan, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                  const target::Target& target, bool barrier_after_loop) {
  AgentBuilder(plan, tasks, phases, target, barrier_after_loop).build();
  verify::set_up(plan);
}

}  // namespace zellige::plan
