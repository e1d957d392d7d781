#include <algorithm>
#include <map>

#include "verify/cluster.hpp"
#include "verify/column_sets.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"
#include "verify/staged_values.hpp"

namespace zellige::verify {
namespace {

// Most bytes that one phase of an mbarrier can count.
constexpr std::int64_t max_transaction_bytes = (1 << 20) - 1;

/// Returns the index of the cell that access `a` of event `e` touches.
int cell_of(const State& s, const Access& a, const StepEvent& e) {
  return s.first_cell[a.tensor] + stage_of(a, s.kernel.tensors[a.tensor].stages, e.iteration);
}

/// Returns the names of the tensor stages that an event writes, for messages.
std::string writes_text(const State& s, const StepEvent& e) {
  std::string text;
  for (const Access& w : e.step->writes) text += (text.empty() ? "" : " and ") + cell_name(s, cell_of(s, w, e));
  return text;
}

/// Creates one cell per stage of each tensor, and one per set of columns. A cell lists all cells that share bytes with it.
void lay_out_cells(State& s) {
  for (std::size_t t = 0; t < s.kernel.tensors.size(); ++t) {
    const SmemTensor& tensor = s.kernel.tensors[t];
    const std::int64_t stage = tensor.bytes() / tensor.stages;
    s.first_cell.push_back(static_cast<int>(s.cells.size()));
    for (int k = 0; k < tensor.stages; ++k) {
      const std::int64_t begin = tensor.offset + k * stage;
      s.cells.push_back({.tensor = static_cast<int>(t), .stage = k, .begin = begin, .end = begin + stage});
    }
  }
  lay_out_sets(s);
  for (std::size_t c = 0; c < s.cells.size(); ++c) {
    // The list begins with the cell itself, so that messages mention it first.
    s.cells[c].overlapping.push_back(static_cast<int>(c));
    for (std::size_t d = 0; d < s.cells.size(); ++d)
      if (c != d && s.cells[c].begin < s.cells[d].end && s.cells[d].begin < s.cells[c].end)
        s.cells[c].overlapping.push_back(static_cast<int>(d));
  }
}

/// Records, for each phase of each channel, the number of TMA copies and bytes that fill it. These are the copies
/// between two acquires by the producer.
void count_phases(State& s) {
  // By channel: the number of acquires by the channel's producer so far.
  std::vector<std::size_t> acquired(s.channels.size(), 0);
  for (std::size_t a = 0; a < s.lines.size(); ++a)
    for (const StepEvent& e : s.lines[a]) {
      const Step& step = *e.step;
      const bool load = is_tma_load(s.kernel, step), acquire = as<Acquire>(step);
      if (!load && !acquire && !as<Release>(step)) continue;
      const int channel = kernel::channel_of(step), acquired_channel = kernel::acquired_channel_of(step);
      const Channel& c = s.kernel.channels[channel];
      if (s.kernel.channels[acquired_channel].producer != static_cast<int>(a)) continue;
      std::size_t& n = acquired[acquired_channel];
      if (acquire) ++n;
      std::vector<ChannelPhase>& phases = s.channels[channel].phases;
      if (phases.size() < n) phases.resize(n);
      if (acquire) continue;
      if (n == 0)
        reject(s.kernel, "{} {} in {} without holding a stage of it; acquire {} before this step",
               s.kernel.agents[a].name,
               load ? fmt::format("fills {} through channel {}", writes_text(s, e), c.name)
                    : fmt::format("releases channel {}", c.name),
               describe(e), c.name);
      ChannelPhase& phase = phases[n - 1];
      if (!load) {
        phase.by_release = true;
        continue;
      }
      ++phase.copies;
      for (const Access& w : step.writes)
        phase.bytes += s.kernel.tensors[w.tensor].bytes() / s.kernel.tensors[w.tensor].stages;
      if (phase.bytes > max_transaction_bytes)
        does_not_fit("{}: {} loads {} bytes into one stage of channel {} in {}; an mbarrier counts to {}",
                     s.kernel.name(), s.kernel.agents[a].name, phase.bytes, c.name, describe(e), max_transaction_bytes);
    }
}

/// Returns the state in which nothing has been executed.
State initial_state(const Kernel& k) {
  State s{k, unroll(k), {}, {}, {}, {}, {}};
  s.agents.resize(s.kernel.agents.size());
  s.channels.resize(s.kernel.channels.size());
  for (std::size_t c = 0; c < s.kernel.channels.size(); ++c)
    for (int agent : s.kernel.channels[c].consumers) s.channels[c].consumers[agent];
  for (AgentState& a : s.agents) a.seen = a.own = a.fenced = a.fenced_own = AgentClock(s.components());
  lay_out_cells(s);
  count_phases(s);
  for (std::size_t a = 0; a < s.lines.size(); ++a)
    for (const StepEvent& e : s.lines[a])
      if (const Barrier* barrier = as<Barrier>(*e.step)) s.agents[a].barriers.insert(barrier->id);
  return s;
}

/// Returns true if access x has completed before access y, which the current step of y's warp role makes.
/// This holds if all threads of y's warp role have observed x. If each thread accesses only its own
/// elements in x and in y, it suffices that each thread has observed its own access x.
bool ordered(const State& s, const Touch& x, const Touch& y) {
  const AgentState& me = s.agents[y.agent];
  if (me.seen[x.component] >= x.value) return true;
  // If two tensors share bytes, the elements of a thread in one tensor are not its elements in the other.
  const bool mine = x.agent == y.agent && x.cell == y.cell && y.same_thread && (x.writes || x.same_thread);
  return mine && me.own[x.component] >= x.value;
}

/// Rejects access y if it is made by the asynchronous proxy (TMA, wgmma) after the ordinary write `write`
/// and there is no proxy fence between the two.
void require_fence(const State& s, const Touch& write, const Touch& y) {
  if (!in_async_proxy(y.via) || in_async_proxy(write.via)) return;
  const AgentState& me = s.agents[y.agent];
  if (me.fenced[write.component] >= write.value) return;
  if (write.agent == y.agent && write.cell == y.cell && y.same_thread && me.fenced_own[write.component] >= write.value)
    return;
  report_no_fence(s, write, y);
}

/// Records the write w of one stage of a tensor. Rejects it unless all earlier accesses to stages that share bytes with
/// this stage have completed before w.
void record_write(State& s, const Touch& w) {
  StageState& cell = s.cells[w.cell];
  for (int d : cell.overlapping) {
    const StageState& other = s.cells[d];
    for (const Touch& r : other.reads)
      if (!ordered(s, r, w)) report_race(s, r, w);
    if (!other.write) continue;
    if (!ordered(s, *other.write, w)) report_race(s, *other.write, w);
    require_fence(s, *other.write, w);
  }
  for (int d : cell.overlapping) {
    StageState& other = s.cells[d];
    if (d != w.cell && (other.write || other.overwritten)) other.overwritten = w;
    // All accesses to cells that this write covers completely are ordered before it and need no more
    // tracking. Accesses to a partly covered cell do.
    if (other.begin >= cell.begin && other.end <= cell.end) other.reads.clear(), other.write.reset();
  }
  cell.write = w;
  cell.overwritten.reset();
}

/// Records that all threads of warp role `me` have observed everything up to the clock `own`, and that a
/// proxy fence covers everything up to the clock `fenced`.
void learn(AgentState& me, const AgentClock& own, const AgentClock& fenced) {
  join(me.seen, own), join(me.own, own);
  join(me.fenced, fenced), join(me.fenced_own, fenced);
}

/// Acquires the next stage of channel `of` for warp role `a` and returns true. Returns false, without an effect, if
/// the warp role must wait for the stage.
bool try_acquire(State& s, int a, int of) {
  AgentState& me = s.agents[a];
  const Channel& c = s.kernel.channels[of];
  ChannelState& channel = s.channels[of];
  if (c.producer == a) {
    const std::int64_t needed = channel.produced - c.stages + 1;
    for (const auto& [agent, consumer] : channel.consumers)
      if (consumer.released < needed) return false;
    if (needed > 0)
      for (const auto& [agent, consumer] : channel.consumers)
        learn(me, consumer.released_own[needed - 1], consumer.released_fenced[needed - 1]);
    ChannelPhase& phase = channel.phases[channel.produced++];
    phase.own = me.seen, phase.fenced = me.fenced;  // one elected thread announces the bytes
    return true;
  }
  ConsumerState& mine = channel.consumers.at(a);
  if (mine.acquired >= static_cast<std::int64_t>(channel.phases.size())) return false;
  const ChannelPhase& phase = channel.phases[mine.acquired];
  if (mine.acquired >= channel.produced || phase.started < phase.copies) return false;
  if (phase.by_release ? !phase.released : phase.copies == 0) return false;
  learn(me, phase.own, phase.fenced);
  ++mine.acquired;
  AgentClock arrived(s.components());
  arrived[s.component_of_channel(of)] = mine.acquired;
  learn(me, arrived, AgentClock(s.components()));
  return true;
}

/// Executes a release by warp role `a`: a consumer marks the stage as empty, a producer as full by its own arrival.
void release(State& s, int a, const StepEvent& e, const Release& of) {
  AgentState& me = s.agents[a];
  const Channel& c = s.kernel.channels[of.channel];
  ChannelState& channel = s.channels[of.channel];
  AgentClock own = me.own;
  if (kernel::multiplies_into(s.kernel, s.kernel.agents[a]) >= 0)  // it arrives when the products are complete
    own[s.component(a, Groups::wgmma)] = ++me.committed[static_cast<int>(Groups::wgmma)];
  if (c.producer == a) {
    ChannelPhase& phase = channel.phases[channel.produced - 1];
    if (phase.released && kernel::in_columns(c))
      reject(s.kernel, "{} releases a set of channel {} a second time in {}; acquire the next one before this step",
             s.kernel.agents[a].name, c.name, describe(e));
    phase.released = true, phase.own = std::move(own), phase.fenced = me.fenced_own;
    return;
  }
  ConsumerState& mine = channel.consumers.at(a);
  if (mine.released >= s.channels[kernel::acquired_channel_of(*e.step)].consumers.at(a).acquired)
    reject(s.kernel, "{} releases {}[{}] of channel {} in {}, but holds no stage of it; acquire {} before this step",
           s.kernel.agents[a].name, carried_by(s, c), mine.released % c.stages, c.name, describe(e), c.name);
  ++mine.released;
  mine.released_own.push_back(std::move(own));
  mine.released_fenced.push_back(me.fenced_own);
}

/// Rejects a named barrier whose thread count is not the number of threads of the warp roles that use it.
void check_barrier_threads(const State& s, int a, const StepEvent& e, const Barrier& at) {
  if (at.id % barriers_per_block == 0) return;
  int threads = 0;
  for (std::size_t b = 0; b < s.agents.size(); ++b)
    if (s.agents[b].barriers.contains(at.id)) threads += target::warp_threads * s.kernel.agents[b].warps;
  if (threads == at.threads) return;
  reject(s.kernel, "{} reaches barrier {} in {} for {} threads a round, and {} reach it; let it wait for {}",
         s.kernel.agents[a].name, at.id % barriers_per_block, describe(e), at.threads, threads, threads);
}

/// Executes barrier step `e` of warp role `a`, which waits unless it is a bar.arrive. Returns false if the warp
/// role must wait. A round of the barrier ends when each warp role that uses the barrier has arrived once. Before
/// it arrives, a warp role must have observed the end of the preceding round; otherwise its arrival might count
/// in that round, and is rejected.
bool pass_barrier(State& s, int a, const StepEvent& e, const Barrier& at) {
  AgentState& me = s.agents[a];
  const int id = at.id;
  std::vector<Round>& rounds = s.barriers[id];
  if (!me.waits) {
    const std::size_t n = me.rounds[id]++;
    // It has observed that some warp role, itself included, has returned from waiting for the end of the round.
    const auto knows = [&](const auto& passed) { return me.own[s.component(passed.first)] >= passed.second; };
    if (n > 0 && std::ranges::none_of(rounds[n - 1].passed, knows)) report_arrived_twice(s, a, e);
    if (rounds.size() == n) rounds.push_back({{}, AgentClock(s.components()), AgentClock(s.components()), {}});
    check_barrier_threads(s, a, e, at);
    rounds[n].arrived.insert(a);
    join(rounds[n].own, me.own), join(rounds[n].fenced, me.fenced_own);
    if (!at.waits) {
      ++me.at;
      return true;
    }
    me.waits = true;
  }
  Round& round = rounds[me.rounds[id] - 1];
  for (std::size_t b = 0; b < s.agents.size(); ++b)
    if (s.agents[b].barriers.contains(id) && !round.arrived.contains(static_cast<int>(b))) return false;
  learn(me, round.own, round.fenced);
  round.passed[a] = ++me.own[s.component(a)];
  me.waits = false;
  ++me.at;
  return true;
}

/// Rejects computation `e` of warp role `a` if it reads accumulators of wgmma groups for which `a` has not waited.
void check_registers_ready(const State& s, int a, const StepEvent& e, int channel) {
  if (channel < 0 || s.kernel.channels[channel].by != Synchronisation::commit_group) return;
  const AgentState& me = s.agents[a];
  const auto last = me.multiplies.find(channel);
  if (last != me.multiplies.end() && me.own[last->second.component] < last->second.value)
    report_registers(s, last->second, e);
}

/// Returns whether `agent`, a consumer of the channel, acquires the channel's stages. A consumer in another block of
/// the cluster does not: it acquires the stages of its own block's channel, but also releases those of this channel.
bool acquires(const State& s, int agent, int channel) {
  return std::ranges::none_of(s.lines[agent], [&](const StepEvent& e) {
    const Release* of = as<Release>(*e.step);
    return of && of->channel == channel && of->acquired_channel >= 0;
  });
}

/// Rejects the schedule unless every phase of the empty mbarriers of channel `c` gets `expected` arrivals. Counts one
/// arrival per warp of every warp role that releases the stage.
void check_arrivals(const State& s, const Channel& c, const ChannelState& channel, int expected) {
  std::int64_t phases = 0;
  for (const auto& [agent, consumer] : channel.consumers) phases = std::max(phases, consumer.released);
  for (std::int64_t phase = 0; phase < phases; ++phase) {
    int arrivals = 0;
    for (const auto& [agent, consumer] : channel.consumers)
      if (phase < consumer.released) arrivals += s.kernel.agents[agent].warps;
    if (arrivals == expected) continue;
    reject(s.kernel,
           "the empty barrier of {}[{}] of channel {} waits for {} arrivals in phase {}, and gets {}; initialise it "
           "for the number of warps that release the stage, in every phase",
           carried_by(s, c), phase % c.stages, c.name, expected, phase / c.stages, arrivals);
  }
}

/// Rejects the schedule unless, at its end, no asynchronous operation is in flight, the consumers have acquired every
/// filled stage, and every barrier's last round had a warp role that waited for its end.
void check_end(const State& s) {
  for (const auto& [id, rounds] : s.barriers)
    if (rounds.back().passed.empty())
      reject(s.kernel, "{} arrives at barrier {} and nobody waits there for it; each arrive needs its barrier",
             s.kernel.agents[*rounds.back().arrived.begin()].name, id);
  for (std::size_t a = 0; a < s.agents.size(); ++a) {
    // Whose products others wait for does not wait itself.
    const bool alone = kernel::multiplies_into(s.kernel, s.kernel.agents[a]) < 0;
    for (const std::optional<Touch>& last : s.agents[a].last) {
      const auto complete = [&](const AgentState& of) { return of.own[last->component] >= last->value; };
      if (last && (alone ? !complete(s.agents[a]) : std::ranges::none_of(s.agents, complete)))
        report_left_in_flight(s, *last);
    }
  }
  for (std::size_t k = 0; k < s.channels.size(); ++k) {
    const ChannelState& channel = s.channels[k];
    const Channel& c = s.kernel.channels[k];
    for (const auto& [agent, consumer] : channel.consumers)
      if (consumer.acquired < channel.produced && acquires(s, agent, static_cast<int>(k)))
        reject(s.kernel,
               "{} fills {}[{}] of channel {}, which {} never acquires (the last {} it fills), so it may still be "
               "written when the kernel ends; acquire every stage that is filled",
               s.kernel.agents[c.producer].name, carried_by(s, c), consumer.acquired % c.stages, c.name,
               s.kernel.agents[agent].name, channel.produced - consumer.acquired);
    if (kernel::has_stages(c)) check_arrivals(s, c, channel, kernel::arrivals_of(s.kernel, static_cast<int>(k)));
  }
}

/// Executes the steps of all warp roles (agents) symbolically, and rejects the schedule at the first error. A cell is
/// one stage of one tensor, a phase is one filling of a stage, and an event is one execution of a step.
class Simulation {
 public:
  /// Requires the flat schedule of all blocks of a cluster (cluster.hpp), and the kernel of one of them.
  Simulation(const Kernel& k, const Kernel& whole) : s(initial_state(k)), values(whole, k) {}

  /// Executes all warp roles: one after another, each until it must wait, and again until none makes progress. Throws
  /// Rejected if one has not ended then, or if the end state is invalid (check_end()).
  void run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t a = 0; a < s.agents.size(); ++a)
        while (step(static_cast<int>(a))) progress = true;
    }
    for (std::size_t a = 0; a < s.agents.size(); ++a)
      if (s.agents[a].at != s.lines[a].size()) report_deadlock(s);
    check_end(s);
  }

 private:
  State s;
  StagedValues values;

  /// Records the read r of one stage of a tensor. Rejects it unless a write of the stage happens before it, and
  /// if another tensor that shares bytes with the stage has been written since that write.
  void read(const Touch& r) {
    StageState& cell = s.cells[r.cell];
    if (cell.overwritten) report_overwritten(s, r);
    if (!cell.write) report_unwritten(s, r);
    if (!ordered(s, *cell.write, r)) report_race(s, *cell.write, r);
    require_fence(s, *cell.write, r);
    values.check_acquired(s, r);
    values.check(s, *cell.write, r);
    for (Touch& old : cell.reads)
      if (old.component == r.component && old.same_thread == r.same_thread) {
        old = r;
        return;
      }
    cell.reads.push_back(r);
  }

  /// Checks and records all accesses of executed step `e` of warp role `agent`, which are made by an operation of kind
  /// `via`. The accesses complete when component `component` of a vector clock reaches `value`.
  void touch(int agent, const StepEvent& e, Via via, int component, std::int64_t value) {
    const Step& step = *e.step;
    for (const bool writes : {false, true}) {
      // If a step accesses a cell twice, this is one access; it is by the same thread only if both are.
      std::map<int, bool> cells;
      for (const Access& a : writes ? step.writes : step.reads) {
        const auto [entry, fresh] = cells.try_emplace(cell_of(s, a, e), a.same_thread);
        if (!fresh) entry->second = entry->second && a.same_thread;
      }
      for (const auto& [cell, same_thread] : cells) {
        const Touch t{agent, &e, cell, via, writes, same_thread, component, value};
        writes ? record_write(s, t) : read(t);
      }
    }
  }

  /// Executes step `e` of warp role `a`, which starts cp.async, wgmma or a TMA store (its kind: `via`).
  void start_group_operation(int a, const StepEvent& e, Via via) {
    AgentState& me = s.agents[a];
    const Groups g = groups_of(s.kernel, s.kernel.agents[a], *e.step);
    const int component = s.component(a, g);
    const std::int64_t group = me.committed[static_cast<int>(g)] + 1;
    touch(a, e, via, component, group);
    const auto& list = via == Via::cp_async ? e.step->writes : e.step->reads;
    const Touch last{a,         &e,   list.empty() ? -1 : cell_of(s, list[0], e), via, via == Via::cp_async, false,
                     component, group};
    me.last[static_cast<int>(g)] = last;
    if (const Mma* mma = as<Mma>(*e.step)) me.multiplies[mma->channel] = last;
  }

  /// Executes a step of warp role `a` that starts a TMA load into the stage that it has acquired.
  void load_by_tma(int a, const StepEvent& e, const Copy& copy) {
    const Channel& c = s.kernel.channels[copy.channel];
    ChannelState& channel = s.channels[copy.channel];
    const std::int64_t phase = s.channels[kernel::acquired_channel_of(*e.step)].produced - 1;
    for (const Access& w : e.step->writes)
      if (s.cells[cell_of(s, w, e)].stage != phase % c.stages)
        reject(s.kernel, "{} writes {} in {}, but the stage of channel {} that it holds is {}; copy into {}[{}]",
               s.kernel.agents[a].name, cell_name(s, cell_of(s, w, e)), describe(e), c.name, phase % c.stages,
               s.kernel.tensors[w.tensor].name, phase % c.stages);
    touch(a, e, Via::tma_load, s.component_of_channel(copy.channel), phase + 1);
    ++channel.phases[phase].started;
  }

  /// Executes the next step of warp role `a`. Returns false if the warp role must wait, or has ended.
  bool step(int a) {
    AgentState& me = s.agents[a];
    if (me.at == s.lines[a].size()) return false;
    const StepEvent& e = s.lines[a][me.at];
    if (const Barrier* at = as<Barrier>(*e.step)) return pass_barrier(s, a, e, *at);
    if (const Acquire* of = as<Acquire>(*e.step); of && !try_acquire(s, a, of->channel)) return false;
    if (const Drain* of = as<Drain>(*e.step))
      for (const auto& [agent, consumer] : s.channels[of->channel].consumers)
        if (consumer.released < s.channels[of->channel].produced) return false;
    const std::int64_t now = ++me.own[s.component(a)];
    const auto groups = [&] {
      if (kernel::channel_of(*e.step) >= 0) return groups_of(s.kernel, s.kernel.agents[a], *e.step);
      if (!me.only_groups) me.only_groups = groups_of(s.kernel, s.kernel.agents[a], *e.step);
      return *me.only_groups;
    };
    kernel::match(
        *e.step, [&](const Start&) { touch(a, e, Via::ordinary, s.component(a), now); },
        [&](const Compute& compute) {
          check_registers_ready(s, a, e, compute.channel);
          touch(a, e, Via::ordinary, s.component(a), now);
        },
        [&](const Copy& copy) {
          if (is_tma_load(s.kernel, *e.step))
            load_by_tma(a, e, copy);
          else
            start_group_operation(a, e, e.step->reads.empty() ? Via::cp_async : Via::bulk_store);
        },
        [&](const Mma& mma) {
          if (s.first_set.contains(mma.channel)) multiply_into(s, a, e, mma.channel);
          start_group_operation(a, e, Via::wgmma);
        },
        [&](const Acquire& of) {
          if (s.first_set.contains(of.channel) && s.kernel.channels[of.channel].producer != a)
            load_columns(s, a, e, of.channel, now);
        },
        [&](const Commit&) { ++me.committed[static_cast<int>(groups())]; },
        [&](const WaitGroup& wait) {
          const Groups g = groups();
          std::int64_t& waited = me.own[s.component(a, g)];
          waited = std::max(waited, me.committed[static_cast<int>(g)] - wait.pending);
        },
        [&](const Release& of) { release(s, a, e, of); },
        [&](const FenceProxy&) { join(me.fenced, me.seen), join(me.fenced_own, me.own); },
        [](const OneOf<Barrier, Drain, MbarrierInit, FenceInit, GriddepWait, GriddepLaunchDependents, WarpBarrier,
                       ClusterBarrier, Loop> auto&) {});
    ++me.at;
    return true;
  }
};

}  // namespace

void verify(const Kernel& kernel, const target::Target& target) {
  check_structure(kernel);
  check_limits(kernel, target);
  if (kernel.cluster == 1)
    Simulation(kernel, kernel).run();
  else
    Simulation(flat_cluster(kernel), kernel).run();
  check_other_arrivals(kernel);
}

}  // namespace zellige::verify
