#include "plan/agents.hpp"

#include <algorithm>

#include "kernel/widened.hpp"
#include "plan/agent_steps.hpp"
#include "plan/multiplier.hpp"
#include "schedule/peeled_loop.hpp"
#include "selection/select.hpp"
#include "target/pipe.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {
namespace {

constexpr int consumer = LoopParts::consumer, producer = LoopParts::producer;  // indices of agents

/// Adds the channel that a task of agent `from` fills for agent `to`, and returns its index. A copy through registers is waited for as
/// if it were a cp.async.
int add_channel(kernel::Kernel& kernel, std::string name, const selection::WorkItem& task, int from, int stages = 1,
                int to = consumer) {
  const Instruction* row = task.kind == kernel::WorkKind::mma ? task.matmul.row : task.copy.row;
  const kernel::Synchronisation by =
      task.kind == kernel::WorkKind::to_cluster
          ? kernel::Synchronisation::mbarrier_cluster
          : kernel::synchronisation(row ? row->completion : kernel::Completion::copy_group);
  kernel.channels.push_back({std::move(name), task.tensor, stages, from, {to}, by});
  return static_cast<int>(kernel.channels.size()) - 1;
}

/// The agent of a kernel that has no other.
class BlockAgent : PhaseSteps {
 public:
  using PhaseSteps::PhaseSteps;
  /// Returns the agent. Adds the channels of the tiles that the loop copies to the kernel.
  kernel::Agent build() {
    for (int t : phases_.copied_each)
      add_channel(plan_, plan_.tensors[tasks_[t].tensor].name, tasks_[t], consumer, plan_.stages());
    if (plan_.program.loop > 1) {
      start_states(true);
      const BlockLoop loop = block_loop(plan_, phases_, barriers_.copies_cross);
      start_copies(static_cast<int>(loop.ahead));
      open({.trip_count = plan_.iterations_per_block(), .bounded = kernel::has_loop_bounds(plan_)});
      iteration(loop);
      close();
      if (barriers_.after) barrier();
    }
    straight();
    return std::move(agent_);
  }

 private:
  /// Adds `copies`, with `ends` as a group, in a loop over the iterations from <= i < to of a pipeline's prologue. If `to`
  /// is 1, adds them without a loop; if the range is empty, adds nothing.
  void prologue(int from, int to, const std::vector<int>& copies, bool ends = true) {
    if (from >= to) return;
    const bool fewer = kernel::has_open_loop(plan_);
    if (to > 1) open({.kind = kernel::Loop::prologue, .trip_count = to, .from = from, .bounded = fewer});
    for (int t : copies) run(t);
    if (ends) commit();
    if (to > 1) close();
  }

  /// Adds all between the start of the loop's states and the loop: the copies of tiles that are loaded once before the loop
  /// and of the tiles of the first `ahead` iterations, and the work on the former. Copies of constant inputs start before the
  /// wait for earlier kernels if they are loaded once, or in the first half of these iterations; all others after it.
  void start_copies(int ahead) {
    const bool once = !phases_.copied_once.empty(), streams = !phases_.copied_each.empty();
    std::vector<int> early, delayed;
    for (int t : phases_.copied_each) (tasks_[t].constant ? early : delayed).push_back(t);
    const bool constants_first = plan_.programmatic && !early.empty();
    const int first = constants_first ? tile::ceil_div(ahead, 2) : 0;  // iterations whose constants are loaded early
    for (int t : phases_.copied_once)
      if (tasks_[t].constant) run(t);
    prologue(0, first, early, false);
    depend();
    for (int t : phases_.copied_once)
      if (!tasks_[t].constant) run(t);
    if (streams) {
      // A group of its own, so that it is waited for before the first iteration's copies.
      if (!phases_.before.empty() || (ahead == 0 && once)) commit();
      prologue(0, first, delayed);
      prologue(first, ahead, phases_.copied_each);
    }
    if (once && !streams) commit(), arrive();
    // Meanwhile the groups of the loop's first iterations stay in flight.
    if (!phases_.before.empty() && streams) arrive(ahead);
    for (const selection::Phase& phase : phases_.before) barrier(), work(phase);
    if (barriers_.before) barrier();
  }

  /// Adds the body of the loop.
  void iteration(const BlockLoop& loop) {
    int place = 0;
    const auto next_place = [&] {
      if (std::ranges::count(loop.barriers, place++) > 0) barrier();
    };
    for (const schedule::LoopEntry& entry : loop.body) {
      if (entry.placed.item == BlockLoop::work) {
        for (const selection::Phase& phase : phases_.inside) next_place(), work(phase);
        continue;
      }
      next_place();
      for (const schedule::GroupWait& wait : entry.waits) arrive(wait.pending);
      if (entry.placed.item == BlockLoop::wait) continue;
      if (loop.ahead < plan_.program.loop)  // otherwise all copies have started before the loop
        for (int t : phases_.copied_each) run(t, static_cast<int>(loop.ahead));
      commit();
    }
  }
};

/// Returns whether the consumer also releases the ring stages of an output tile's last iterations. It does if the
/// producer fills them for the block's next output tile. It also does if blocks of a cluster share loads: the
/// producer must not exit while other blocks have yet to arrive at this block's mbarriers.
bool emptied(const kernel::Kernel& kernel) { return several_tiles(kernel) || kernel.cluster > kernel.parts_of_loop(); }
/// Returns whether the consumer must release ring stages, because the producer waits until they are empty: the ring
/// has fewer stages than the loop has iterations, or emptied() is true.
bool goes_round(const kernel::Kernel& kernel) {
  return emptied(kernel) || kernel.iterations_per_block() > kernel.stages();
}
/// Adds the channels of a producer and a consumer to the kernel: for each group of products a ring, and its accumulators.
AgentChannels add_channels(kernel::Kernel& kernel, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                           const LoopParts& loop) {
  const std::vector<int>& streamed = phases.copied_each;
  const selection::WorkItem& product = tasks[loop.parts.front().tasks.front()];
  AgentChannels to;
  const bool separate = loop.graph.items.front().role == LoopParts::multiplier;
  to.rings.push_back(add_channel(kernel, "ring", tasks[streamed.front()], producer, kernel.stages(),
                                 separate ? LoopParts::multiplier : consumer));
  // Of the last group, which accumulates. What warps multiply themselves is complete at once.
  const int last = product.matmul.asynchronous()
                       ? add_channel(kernel, "accumulators", product, separate ? LoopParts::multiplier : consumer)
                       : -1;
  if (separate) {
    kernel.channels.back().by = kernel::Synchronisation::mbarrier_commit, kernel.channels.back().stages = loop.sets;
    to.sets = last;
  }
  for (int group = 1; group < loop.groups; ++group) {
    to.accumulators.push_back(add_channel(kernel, "scores", product, consumer));
    to.rings.push_back(add_channel(kernel, "second ring", tasks[streamed.back()], producer, kernel.stages()));
  }
  to.accumulators.push_back(last);
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    const selection::WorkItem& t = tasks[i];
    const bool copies = kernel::is_global_load(t.kind);
    if (copies && t.copy.async() && std::ranges::count(streamed, i) == 0 && to.cp_async < 0)
      to.cp_async = add_channel(kernel, "tiles", t, consumer);
    if (!copies && t.copy.by_tensor_map() && to.stores < 0) to.stores = add_channel(kernel, "out", t, consumer);
    if (t.kind == kernel::WorkKind::to_cluster) to.exchange = add_channel(kernel, "exchange", t, consumer);
  }
  for (int t : phases.copied_once)
    if (tasks[t].copy.by_tensor_map() && to.resident < 0)
      to.resident = add_channel(kernel, "resident", tasks[t], producer);
  return to;
}

/// The agent that loads tiles by TMA, as soon as their stage is empty.
class ProducerAgent : PhaseSteps {
 public:
  using PhaseSteps::PhaseSteps;
  /// Returns the agent.
  kernel::Agent build() {
    depend();
    if (plan_.blocks > 0) open(output_tiles(plan_));
    if (channels_.resident >= 0) acquire(channels_.resident);
    for (int t : phases_.copied_once)
      if (uses_tma(t)) run(t).is = kernel::Copy{.channel = channels_.resident};
    open({.trip_count = plan_.iterations_per_block(), .bounded = kernel::has_loop_bounds(plan_)});
    for (const schedule::PlacedItem& placed : schedule::body_of(parts_.graph, parts_.times, producer, first_item())) {
      const LoopPart& part = parts_.parts[placed.item];
      const int into = channels_.rings[part.ring];
      acquire(into);
      for (int t : part.tasks) run(t).is = kernel::Copy{.channel = into, .multicast = tasks_[t].part >= 0};
    }
    close();
    if (plan_.blocks > 0) close();
    return std::move(agent_);
  }

 private:
  /// Returns the first item of the producer's loop, whose iterations it counts.
  int first_item() const {
    const auto own = std::ranges::find(parts_.graph.items, producer, &schedule::LoopItem::role);
    return static_cast<int>(own - parts_.graph.items.begin());
  }
};

/// The agent that multiplies by wgmma what a producer loads. Its loop is a modulo schedule, and iterations are peeled: what of
/// the first one starts early is before the loop, and what of the last one starts late after it. A guard would be a condition around wgmma, where ptxas adds fences of its own and serialises them.
class ConsumerAgent : PhaseSteps {
 public:
  using PhaseSteps::PhaseSteps;
  /// Returns the agent.
  kernel::Agent build() {
    const auto by_threads = [&](int t) { return !uses_tma(t); };
    depend();
    if (plan_.blocks > 0) open(output_tiles(plan_));
    if (several_tiles(plan_) && std::ranges::any_of(phases_.copied_once, by_threads))
      barrier();  // all threads have read the previous tile's copies, which are overwritten now
    start_states(channels_.sets < 0);
    bool once = false;  // copies of values that are read after the loop are in flight during the loop
    for (int t : phases_.copied_once)
      if (by_threads(t)) run(t), once = once || travels(t);
    if (once) commit(cp_async_);
    if (channels_.resident >= 0) acquire(channels_.resident);
    if (channels_.sets >= 0)
      acquire(channels_.sets), release(channels_.sets);  // their products are loaded in between
    else
      iterate();
    exchange();
    if (once) arrive(0, cp_async_);
    if (channels_.stores >= 0 && several_tiles(plan_))
      arrive(0, channels_.stores);  // the previous TMA store has read its buffer
    if (barriers_.after) barrier();
    straight();
    if (plan_.blocks > 0) close();
    if (channels_.stores >= 0) arrive(0, channels_.stores);
    return std::move(agent_);
  }

 private:
  /// Adds the loop, and the iterations before and after it in which not all of its items have work.
  void iterate() {
    const std::int64_t n = plan_.iterations_per_block();
    for (const LoopPart& part : parts_.parts)
      for (int t : part.tasks)
        if (tasks_[t].kind == kernel::WorkKind::to_operand && tasks_[t].part != kernel::loads_bytes) start(t);
    const schedule::PeeledLoop loop =
        schedule::peel(parts_.graph, schedule::body_of(parts_.graph, parts_.times, consumer, parts_.counter));
    for (std::size_t i = 0; i < loop.before.size(); ++i)
      peeled(loop.before[i], static_cast<std::int64_t>(i) - loop.fewer, goes_round(plan_));
    const bool some_whole = plan_.loop_bounds && plan_.loop_bounds->all;
    for (const bool whole : {true, false}) {
      if (whole && !some_whole) continue;
      const std::int64_t end = n - loop.fewer, from = !whole && some_whole ? end : loop.from;
      open({.trip_count = end, .from = from, .bounded = kernel::has_loop_bounds(plan_), .whole = whole});
      entries(loop.body, goes_round(plan_));
      close();
    }
    if (plan_.blocks > 0 && channels_.resident >= 0) release(channels_.resident);
    for (std::size_t i = 0; i < loop.after.size(); ++i)
      peeled(loop.after[i], n - loop.fewer + static_cast<std::int64_t>(i), emptied(plan_));
  }

  /// Adds iteration `number`, which the loop does not run. What evaluates tiles of the iteration is in a loop of its own, so that it is
  /// evaluated at its coordinates. Before iteration 0 there are products alone.
  void peeled(const std::vector<schedule::LoopEntry>& of, std::int64_t number, bool releases) {
    const bool works = std::ranges::any_of(
        of, [&](const schedule::LoopEntry& e) { return !parts_.parts[e.placed.item].tasks.empty(); });
    const bool counts = works && number >= 0;
    if (counts) open({.trip_count = number + 1, .from = number});
    entries(of, releases, number, counts);
    if (counts) close();
  }

  /// Adds the items of one iteration, in order, and the waits between them. `peeled`: the iteration, if the loop does not run it;
  /// `counts`: there is a loop of it alone around the steps. `releases`: whether the producer waits for the stages of the rings.
  void entries(const std::vector<schedule::LoopEntry>& of, bool releases,
               std::optional<std::int64_t> peeled = std::nullopt, bool counts = false) {
    for (const schedule::LoopEntry& entry : of) {
      for (const schedule::GroupWait& wait : entry.waits)
        arrive(wait.pending, channels_.accumulators[parts_.parts[wait.item].products]);
      const LoopPart& part = parts_.parts[entry.placed.item];
      if (part.acquires) acquire(channels_.rings[part.ring]);
      if (parts_.graph.items[entry.placed.item].asynchronous())
        issue(part, peeled && !counts ? *peeled + entry.placed.ahead : entry.placed.ahead,
              peeled && !counts                             ? First::any
              : peeled && *peeled + entry.placed.ahead == 0 ? First::sums
                                                            : First::none,
              entry.placed.ahead < 0);
      else if (part.tasks.empty() && releases)
        release(channels_.rings[part.ring]);
      else if (!part.tasks.empty() && tasks_[part.tasks.front()].kind == kernel::WorkKind::mma)
        multiply(part, releases);
      else
        work(part.tasks, part.products < 0 ? -1 : channels_.accumulators[part.products]);
    }
  }

  /// Adds a group of matmuls that each warp carries out itself. One lane releases their stage for its warp, after all of them have read it.
  void multiply(const LoopPart& part, bool releases) {
    work(part.tasks);
    if (releases) step(kernel::WarpBarrier{}), release(channels_.rings[part.ring]);
  }

  /// Which products are the first of a sum, and overwrite its accumulators.
  enum class First : std::uint8_t { none, sums, any };

  /// Adds a group of matmuls, which read stages of their ring. `lag`: of the iteration's tiles; `pipelined`: whether they use what
  /// the iteration before has left in registers.
  void issue(const LoopPart& part, std::int64_t lag, First first, bool pipelined) {
    const int sums = channels_.accumulators[part.products];
    for (int product : part.tasks) {
      kernel::Step& s = run(product);
      const bool sum = plan_.program.nodes[tasks_[product].node].carried;
      s.is = kernel::Mma{
          .channel = sums, .peeled = first == First::any || (first == First::sums && sum), .pipelined = pipelined};
      for (kernel::Access& a : s.reads) a.lag = static_cast<int>(lag);
    }
    commit(sums);
  }

  /// Adds split-K's exchange within a cluster: each block sends its partial sums to the blocks that store the result,
  /// and receives the other blocks' partial sums of the columns that it stores itself. Does nothing without split-K.
  void exchange() {
    for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
      const bool sends = tasks_[t].kind == kernel::WorkKind::to_cluster;
      if (!sends && tasks_[t].kind != kernel::WorkKind::from_cluster) continue;
      if (!sends) acquire(channels_.exchange);
      kernel::Step& s = run(t);
      s.global = kernel::Global::nothing;
      if (!sends) continue;
      s.is = kernel::Compute{.channel = channels_.accumulators.back(), .to_cluster = true};
      for (kernel::Access& a : s.writes) a.same_thread = false;
      release(channels_.exchange);
    }
  }
};

/// Adds a TMA producer to the kernel, and consumer warps, of wgmma or of mma.sync.
void add_consumer_and_producer(AgentInputs from, const target::Target& target) {
  // Registers per thread. With over `many` accumulators setmaxnreg moves some from producer to consumer.
  constexpr int many = 96, most = 232, spared = 40;
  kernel::Kernel& kernel = from.kernel;
  std::int64_t sums = 0;
  const selection::WorkItem* product = nullptr;  // one of the matmuls of warpgroups
  for (const selection::WorkItem& t : from.tasks)
    if (t.matmul.asynchronous()) {
      sums += selection::accumulator_registers(t.matmul, t.matmul.warps), product = &t;
      if (const auto w = kernel::widened_operand(kernel.program, t.node, t.matmul))
        sums += kernel::widened_registers(kernel.program, *w, kernel.program.threads());
    }
  const int group = product ? kernel::warps_of(*product->matmul.row) : 1, warps = (kernel.threads + 31) / 32;
  // True if 232 registers (`most`) for every thread would exceed the multiprocessor's registers. This is not so with four
  // consumer and four producer warps.
  const bool scarce = (kernel.threads + 32 * group) * most > target.registers_per_multiprocessor;
  const int sets = sets_of_columns(kernel, from.tasks, from.phases, target);
  const bool moves = sums > many && scarce && sets == 0;
  kernel.threads += 32 * (moves ? group : sets > 0 ? 2 : 1);
  from.loop = loop_parts(kernel, from.tasks, from.phases, sets);
  from.channels = add_channels(kernel, from.tasks, from.phases, from.loop);
  // The producer waits for earlier kernels if one of its TMA loads is not of a constant input. The consumer then needs no
  // wait of its own, unless it accesses global memory before it acquires a stage from the producer.
  const auto varies = [&](int t) { return !from.tasks[t].constant; };
  bool loads_wait = std::ranges::any_of(from.phases.copied_each, varies), alone = false;
  for (int t : from.phases.copied_once)
    if (from.tasks[t].copy.by_tensor_map())
      loads_wait = loads_wait || varies(t);
    else
      alone = true;
  kernel.agents.push_back(
      ConsumerAgent(from, "consumer", warps, moves ? most : 0, !loads_wait || alone || sets > 0).build());
  kernel.agents.push_back(ProducerAgent(from, "producer", moves ? group : 1, moves ? spared : 0, loads_wait).build());
  if (sets > 0) kernel.agents.push_back(multiplier(from));
}

}  // namespace

void build_agents(kernel::Kernel& kernel, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                  const target::Target& target, bool barrier_after_loop) {
  kernel.threads = kernel.program.threads();
  kernel.agents.clear(), kernel.channels.clear(), kernel.setup.clear(), kernel.teardown.clear();
  LoopBarriers barriers = loop_barriers(kernel, tasks, phases);
  barriers.after = barriers.after || barrier_after_loop;
  // One thread issues such copies, and they complete at an mbarrier, at which other agents wait.
  const auto have_own_agent = [&](int t) {
    const Instruction* row = tasks[t].copy.row;
    return row && target::issuer(*row) == Issuer::thread && row->completion == kernel::Completion::mbarrier_bytes;
  };
  if (std::ranges::any_of(phases.copied_each, have_own_agent))
    add_consumer_and_producer({kernel, tasks, phases, barriers}, target);
  else
    kernel.agents.push_back(BlockAgent({kernel, tasks, phases, barriers}, "block", (kernel.threads + 31) / 32).build());
  verify::set_up(kernel);
}

}  // namespace zellige::plan
