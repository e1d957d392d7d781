#include "verify/verify_limits.hpp"

#include <algorithm>
#include <set>

#include "target/instructions.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

constexpr int max_cluster = 8;                             // blocks per cluster
constexpr int named_barriers = 16;                         // number of hardware barriers; barrier 0 is __syncthreads
constexpr int tma_alignment = 128;                         // bytes
constexpr int warp = target::warp_threads, warpgroup = 4;  // threads per warp, warps per warpgroup

std::string at(const Agent& agent, const Step& step, int index) {
  return fmt::format("{}, {}", agent.name, kernel::describe(step, index));
}

/// A function object that throws Rejected with the position of a step and the given reason.
struct Rejection {
  const std::string& kernel;
  const Agent& agent;
  const Step& step;
  int index;
  template <class... T>
  void operator()(fmt::format_string<T...> why, T&&... with) const {
    reject("{}: {}, {}", kernel, at(agent, step, index), fmt::format(why, std::forward<T>(with)...));
  }
};

/// Rejects tensors with invalid sizes or offsets, and more stages than the proof can follow.
void check_tensors(const Kernel& s) {
  constexpr std::int64_t followed_stages = 4096;
  std::int64_t stages = 0;
  for (const SmemTensor& t : s.tensors) {
    stages += std::max(t.stages, 0);
    if (stages > followed_stages)
      does_not_fit("{}: tensor {} and those before it have {} stages together; a proof takes at most {}", s.name(),
                   t.name, stages, followed_stages);
    if (t.stages < 1) reject(s, "tensor {} has {} stages; it needs at least 1", t.name, t.stages);
    if (t.bytes() < 1)
      reject(s, "tensor {} has {} bytes in {} stages; each needs at least 1", t.name, t.bytes(), t.stages);
    if (t.offset < 0) reject(s, "tensor {} lies at byte {}; shared memory starts at byte 0", t.name, t.offset);
  }
}

/// Rejects channels with invalid agents, tensors or stages.
void check_channels(const Kernel& s) {
  const int agents = static_cast<int>(s.agents.size());
  const int tensors = static_cast<int>(s.tensors.size());
  for (const Channel& c : s.channels) {
    if (c.stages < 1) reject(s, "channel {} has {} stages; it needs at least 1", c.name, c.stages);
    if (c.consumers.empty()) reject(s, "channel {} has no consumer; it needs at least 1", c.name);
    for (int consumer : c.consumers) {
      if (c.producer < 0 || c.producer >= agents || consumer < 0 || consumer >= agents)
        reject(s, "channel {} joins agents {} and {}; the schedule has {} agents, numbered from 0", c.name, c.producer,
               consumer, agents);
      if (std::ranges::count(c.consumers, consumer) > 1)
        reject(s, "channel {} names {} as consumer twice; each agent once", c.name, s.agents[consumer].name);
    }
    const bool registers = (c.by == Synchronisation::commit_group || kernel::in_columns(c)) && c.tensor == -1;
    if (!registers && (c.tensor < 0 || c.tensor >= tensors))
      reject(s, "channel {} carries tensor {}; the schedule has {} tensors, numbered from 0", c.name, c.tensor,
             tensors);
    if (kernel::is_exchange(c) && (s.cluster == 1 || c.stages != 1))
      reject(s,
             "channel {} has stages {} and cluster {}; what blocks send each other takes one stage, and 2 of them at "
             "least",
             c.name, c.stages, s.cluster);
    if (kernel::has_stages(c) && kernel::consumes(c, c.producer))
      reject(s, "channel {} has {} as producer and as consumer; mbarriers join two agents", c.name,
             s.agents[c.producer].name);
    if (c.tensor < 0 && c.stages != 1 && !kernel::in_columns(c))
      reject(s, "channel {} has {} stages; registers have 1", c.name, c.stages);
    if (c.tensor >= 0 && s.tensors[c.tensor].stages != c.stages)
      reject(s, "channel {} has {} stages, its tensor {} has {}; the two must agree", c.name, c.stages,
             s.tensors[c.tensor].name, s.tensors[c.tensor].stages);
  }
}

/// Rejects a step whose channel does not exist or does not allow the step, such as a load by another warp role than the
/// channel's producer. `k` is the step's number in the warp role `agent`.
void check_channel_of(const Kernel& s, int agent, const Step& step, int k) {
  const Agent& a = s.agents[agent];
  const Rejection wrong{s.name(), a, step, k};
  const bool needed = as<Acquire>(step) || as<Release>(step) || as<Drain>(step);
  const int channel = kernel::channel_of(step), acquired = kernel::acquired_channel_of(step);
  if (channel == -1 && !needed) return;
  if (channel < 0 || channel >= static_cast<int>(s.channels.size()))
    wrong("names channel {}; the schedule has {} channels, numbered from 0", channel, s.channels.size());
  const Channel& c = s.channels[channel];
  const bool loads = as<Copy>(step) && step.reads.empty();
  if (needed && !kernel::has_stages(c) && !kernel::is_exchange(c))
    wrong("acquires or releases channel {}, which works by {}; only mbarrier_bytes has stages to acquire", c.name,
          kernel::name(c.by));
  if (as<Mma>(step) && kernel::in_columns(c) && (agent != c.producer || kernel::multiplies_into(s, a) != channel))
    wrong("multiplies into the columns of channel {}, which {} fills, or into those of two channels; one agent does it",
          c.name, s.agents[c.producer].name);
  if (needed && agent != c.producer && !kernel::consumes(c, agent))
    wrong("acquires or releases channel {}, which joins {} and {}; only these two may", c.name,
          s.agents[c.producer].name, s.agents[c.consumers[0]].name);
  if (acquired >= static_cast<int>(s.channels.size()))
    wrong("holds a stage of channel {}; the schedule has {} channels, numbered from 0", acquired, s.channels.size());
  if (loads && agent != s.channels[acquired].producer)
    wrong("copies through channel {}, whose producer is {}; only its producer may", c.name, s.agents[c.producer].name);
  if (loads && c.by != Synchronisation::mbarrier_bytes && c.by != Synchronisation::cp_async_group)
    wrong("loads through channel {}, which works by {}; a load completes by cp_async_group or mbarrier_bytes", c.name,
          kernel::name(c.by));
  if (loads && c.by == Synchronisation::mbarrier_bytes)
    for (const Access& w : step.writes)
      if (s.tensors[w.tensor].stages != c.stages)
        wrong("fills tensor {} of {} stages through channel {} of {}; the two must agree", s.tensors[w.tensor].name,
              s.tensors[w.tensor].stages, c.name, c.stages);
}

/// Rejects a step of a warp role that only setup and teardown have, or whose barrier, group or trip count is invalid.
void check_numbers(const Step& step, const Rejection& wrong) {
  kernel::match(
      step,
      [&](const OneOf<MbarrierInit, FenceInit, ClusterBarrier> auto&) {
        wrong("is a {}; only setup and teardown have such steps", kernel::name(step));
      },
      [&](const WaitGroup& wait) {
        if (wait.pending < 0) wrong("leaves {} groups pending; the fewest is 0", wait.pending);
      },
      [&](const Barrier& barrier) {
        if (!barrier.waits && barrier.id == 0)
          wrong("arrives at barrier 0, which is __syncthreads; a named barrier is needed, 1 to {}", named_barriers - 1);
        if (barrier.id < 0 || barrier.id >= named_barriers)
          wrong("uses barrier {}; the hardware has barriers 0 to {}", barrier.id, named_barriers - 1);
      },
      [&](const Loop& loop) {
        if (loop.trip_count < 1) wrong("has trip count {}; a loop has at least 1", loop.trip_count);
        const bool prologue = loop.kind == Loop::prologue;
        if (loop.from != 0 && ((!prologue && loop.kind != Loop::iterations) || loop.from < 0 ||
                               loop.from > loop.trip_count || (prologue && loop.from == loop.trip_count)))
          wrong(
              "starts with iteration {} of {}; only a prologue, before its end, and a loop of iterations start above 0",
              loop.from, loop.trip_count);
      },
      [](const OneOf<Copy, Mma, Compute, Start, Commit, Acquire, Release, Drain, FenceProxy, GriddepWait,
                     GriddepLaunchDependents, WarpBarrier> auto&) {});
}

/// Rejects the release of a stage that lanes have read, unless the lanes of each warp have waited for each other since: one of
/// them releases it for all.
void check_lanes_have_read(const Kernel& s, int agent) {
  const Agent& a = s.agents[agent];
  bool reading = false;
  walk(a.steps, [&](const Step& step, const StepPosition& p) {
    const Barrier* barrier = as<Barrier>(step);
    if (as<WarpBarrier>(step) || (barrier && barrier->waits)) reading = false;
    reading = reading || (step.work.kind == WorkKind::mma && as<Compute>(step) && !step.reads.empty());
    if (as<Release>(step) && reading)
      Rejection{s.name(), a, step, p.index}(
          "releases a stage of channel {} that its lanes have read; one lane does it for its warp, so a warp_barrier "
          "comes before",
          s.channels[kernel::channel_of(step)].name);
  });
}

/// Rejects a step of warp role `agent` that has an invalid tensor, channel, guard, barrier or loop.
void check_steps(const Kernel& s, int agent) {
  const Agent& a = s.agents[agent];
  int last_loop = -1;
  walk(a.steps, [&](const Step& step, const StepPosition& p) {
    if (as<Loop>(step)) last_loop = p.index;
  });
  walk(a.steps, [&](const Step& step, const StepPosition& p) {
    const Rejection wrong{s.name(), a, step, p.index};
    const bool touches = !as<Loop>(step) && !std::holds_alternative<Sync>(step.is);
    for (const auto* list : {&step.reads, &step.writes})
      for (const Access& x : *list) {
        if (x.tensor < 0 || x.tensor >= static_cast<int>(s.tensors.size()))
          wrong("touches tensor {}; the schedule has {} tensors, numbered from 0", x.tensor, s.tensors.size());
        if (!touches)
          wrong("is a {} and touches tensor {}; only start, work, copy and async_work do", kernel::name(step),
                s.tensors[x.tensor].name);
      }
    if (as<Copy>(step) && step.reads.empty() == step.writes.empty())
      wrong("is a copy with {} reads and {} writes of shared memory; a load only writes, a store only reads",
            step.reads.size(), step.writes.size());
    if (as<Mma>(step) && !step.writes.empty())
      wrong("is async_work and writes tensor {}; wgmma writes registers: store them in a later work step",
            s.tensors[step.writes[0].tensor].name);
    check_channel_of(s, agent, step, p.index);
    const int guard_lag = kernel::guard_lag_of(step);
    if (guard_lag < 0) wrong("has guard {}; a guard looks forward, so at least 0", guard_lag);
    if (guard_lag > 0 && !p.in_loop() && last_loop < p.index)
      wrong("has guard {} and no loop around or after it; a guard compares with the trip count of that loop",
            guard_lag);
    check_numbers(step, wrong);
  });
}

/// Rejects mbarriers that overlap tensors. Throws DoesNotFit if the block needs more shared memory than the target has.
void check_memory(const Kernel& s, const target::Target& t) {
  std::int64_t end = 0, mbarriers = 0;
  std::string last = "none";
  for (const SmemTensor& x : s.tensors)
    if (x.offset + x.bytes() > end) end = x.offset + x.bytes(), last = x.name;
  for (const Channel& c : s.channels) mbarriers += kernel::barrier_bytes(c);
  for (const Channel& c : s.channels)
    for (const SmemTensor& x : s.tensors)
      if (c.offset >= 0 && c.offset < x.offset + x.bytes() && x.offset < c.offset + kernel::barrier_bytes(c))
        reject(s, "the mbarriers of channel {} lie in bytes [{}, {}), tensor {} in [{}, {}); they may not overlap",
               c.name, c.offset, c.offset + kernel::barrier_bytes(c), x.name, x.offset, x.offset + x.bytes());
  if (end + mbarriers > t.shared_per_block)
    does_not_fit(
        "{}: needs {} bytes of shared memory ({} to the end of tensor {}, {} for mbarriers); a block on {} has at most "
        "{}: use fewer stages or smaller tiles",
        s.name(), end + mbarriers, end, last, mbarriers, t.name, t.shared_per_block);
}

/// Throws DoesNotFit if the target does not support the schedule's number of blocks per cluster or of threads
/// per block. Throws Rejected unless the warp roles together have all warps of the block.
void check_threads(const Kernel& s, const target::Target& t) {
  if (s.cluster > 1 && t.compute_capability < 90)
    does_not_fit("{}: has clusters of {} blocks; {} has no clusters, they need sm_90a", s.name(), s.cluster, t.name);
  if (s.threads < warp || s.threads > t.threads_per_block)
    does_not_fit("{}: has {} threads; a block on {} has {} to {}", s.name(), s.threads, t.name, warp,
                 t.threads_per_block);
  int warps = 0;
  for (const Agent& a : s.agents) {
    if (a.warps < 1) reject(s, "agent {} has {} warps; it needs at least 1", a.name, a.warps);
    warps += a.warps;
  }
  if (s.warp_specialized() && s.threads % warp != 0)
    reject(s, "its agents have {} warps together, {} threads; it has {}", warps, warps * warp, s.threads);
  if (warps != (s.threads + warp - 1) / warp)
    reject(s, "its agents have {} warps together, its {} threads are {}; the two must agree", warps, s.threads,
           (s.threads + warp - 1) / warp);
}

/// Throws DoesNotFit or Rejected if the warp roles' register limits exceed the target's or do not suit setmaxnreg.
void check_registers(const Kernel& s, const target::Target& t) {
  const Agent *given = nullptr, *left = nullptr;
  std::int64_t sum = 0;
  bool differ = false;
  for (const Agent& a : s.agents) {
    if (a.registers == 0) {
      left = &a;
      continue;
    }
    differ = differ || (given && given->registers != a.registers);
    given = &a;
    sum += std::int64_t{a.registers + 7} / 8 * 8 * warp * a.warps;
  }
  if (!given) return;
  if (left)
    reject(s, "agent {} has {} registers a thread, agent {} leaves them open; set all or none", given->name,
           given->registers, left->name);
  if (sum > t.registers_per_multiprocessor)
    does_not_fit("{}: its agents need {} registers together; a multiprocessor of {} has {}", s.name(), sum, t.name,
                 t.registers_per_multiprocessor);
  for (const Agent& a : s.agents) {
    if (!differ && (a.registers < 1 || a.registers > t.registers_per_thread))
      reject(s, "agent {} has {} registers a thread; {} has 1 to {}", a.name, a.registers, t.name,
             t.registers_per_thread);
    if (!differ) continue;
    if (t.compute_capability < 90)
      does_not_fit(
          "{}: agents have different registers a thread ({} has {}); that takes setmaxnreg, which {} lacks: it needs "
          "sm_90a",
          s.name(), a.name, a.registers, t.name);
    if (a.registers % 8 != 0 || a.registers < 24 || a.registers > 256)
      reject(s, "agent {} has {} registers a thread; setmaxnreg takes multiples of 8 from 24 to 256", a.name,
             a.registers);
    if (a.warps % warpgroup != 0)
      reject(s, "agent {} sets its registers and has {} warps; setmaxnreg takes whole warpgroups of {}", a.name,
             a.warps, warpgroup);
  }
}

/// Throws DoesNotFit if the target lacks an instruction (TMA, wgmma). Throws Rejected if an address of a TMA copy is
/// not aligned, if a wgmma is not executed by whole warpgroups, or if some but not all warp roles use __syncthreads.
void check_instructions(const Kernel& s, const target::Target& t) {
  std::set<int> with_block_barrier;
  for (std::size_t i = 0; i < s.agents.size(); ++i) {
    const Agent& a = s.agents[i];
    walk(a.steps, [&](const Step& step, const StepPosition& p) {
      const Rejection wrong{s.name(), a, step, p.index};
      const bool tma = is_tma_load(s, step) || (as<Copy>(step) && !step.reads.empty()), wgmma = as<Mma>(step);
      if (const Barrier* barrier = as<Barrier>(step); barrier && barrier->id == 0)
        with_block_barrier.insert(static_cast<int>(i));
      if (tma && t.compute_capability < 90)
        does_not_fit("{}: {}, is a TMA copy, which {} lacks; use cp_async_group, or sm_90a", s.name(),
                     at(a, step, p.index), t.name);
      const Instruction* const row = step.work.matmul.row;  // null in a plan that names none
      if (wgmma && (row ? target::find_instruction(t, row->name) != row : t.compute_capability != 90))
        does_not_fit("{}: {}, is wgmma, which {} lacks; use mma.sync, or sm_90a", s.name(), at(a, step, p.index),
                     t.name);
      if (wgmma && a.warps % warpgroup != 0 && kernel::multiplies_into(s, a) < 0)
        wrong("is wgmma on an agent of {} warps; it takes whole warpgroups of {}", a.warps, warpgroup);
      for (const auto* list : {&step.reads, &step.writes})
        for (const Access& x : *list) {
          const SmemTensor& tensor = s.tensors[x.tensor];
          const std::int64_t stage = tensor.bytes() / tensor.stages;
          if (tma && (tensor.offset % tma_alignment != 0 || (tensor.stages > 1 && stage % tma_alignment != 0)))
            wrong("is a TMA copy of tensor {} at byte {} with stages of {} bytes; TMA takes multiples of {}",
                  tensor.name, tensor.offset, stage, tma_alignment);
          if (is_tma_load(s, step) && stage != tensor.stage_bytes())
            wrong("fills {} of the {} bytes of {} that a stage announces; its mbarrier would wait for the rest",
                  tensor.stage_bytes(), stage, tensor.name);
        }
    });
  }
  if (with_block_barrier.empty() || with_block_barrier.size() == s.agents.size()) return;
  for (std::size_t i = 0; i < s.agents.size(); ++i)
    if (!with_block_barrier.contains(static_cast<int>(i)))
      reject(s,
             "{} uses barrier 0, agent {} does not; __syncthreads waits for every thread of the block: use a named "
             "barrier, 1 to {}",
             s.agents[*with_block_barrier.begin()].name, s.agents[i].name, named_barriers - 1);
}

}  // namespace

bool is_tma_load(const Kernel& s, const Step& step) {
  const Copy* copy = as<Copy>(step);
  return copy && copy->channel >= 0 && step.reads.empty() &&
         s.channels[copy->channel].by == Synchronisation::mbarrier_bytes;
}

Groups groups_of(const Kernel& s, const Agent& agent, const Step& step) {
  if (as<Mma>(step)) return Groups::wgmma;
  if (as<Copy>(step)) return step.reads.empty() ? Groups::cp_async : Groups::bulk;
  if (const int channel = kernel::channel_of(step); channel >= 0) {
    const Channel& c = s.channels[channel];
    if (c.by == Synchronisation::cp_async_group) return Groups::cp_async;
    if (c.by == Synchronisation::commit_group) return Groups::wgmma;
    if (c.by == Synchronisation::bulk_group) return Groups::bulk;
    reject(s,
           "{}, step '{}', commits or waits for groups of channel {}, which works by {}; it needs cp_async_group, "
           "commit_group or bulk_group",
           agent.name, step.what, c.name, kernel::name(c.by));
  }
  std::set<Groups> started;
  walk(agent.steps, [&](const Step& other, const StepPosition&) {
    if (as<Mma>(other) || (as<Copy>(other) && !is_tma_load(s, other))) started.insert(groups_of(s, agent, other));
  });
  if (started.size() > 1)
    reject(s,
           "{}, step '{}' ({}), does not say which groups it means, and the agent has {} kinds of them; name a channel",
           agent.name, step.what, kernel::name(step), started.size());
  return started.empty() ? Groups::cp_async : *started.begin();
}

/// Rejects an invalid number of blocks, and multicast loads and exchanges whose tensors do not divide among the blocks.
static void check_cluster(const Kernel& s) {
  if (s.cluster < 1 || s.cluster > max_cluster || (s.cluster & (s.cluster - 1)) != 0)
    reject(s, "has clusters of {} blocks; a cluster has 1, 2, 4 or {} blocks", s.cluster, max_cluster);
  for (const Agent& a : s.agents)
    walk(a.steps, [&](const Step& step, const StepPosition& p) {
      const Rejection wrong{s.name(), a, step, p.index};
      const auto* compute = as<Compute>(step);
      if (compute && compute->to_cluster &&
          (step.writes.size() != 1 || kernel::exchange_of(s, step.writes[0].tensor) < 0))
        wrong(
            "writes to the other blocks through no channel of theirs; name one by mbarrier_cluster that carries the "
            "one "
            "tensor");
      if (const Copy* copy = as<Copy>(step); !copy || !copy->multicast) return;
      if (s.cluster == 1) wrong("is multicast to one block; a schedule of at least 2 has such");
      if (!is_tma_load(s, step)) wrong("is multicast and a copy that no mbarrier counts; only TMA loads are");
      for (const Access& w : step.writes) {
        const SmemTensor& t = s.tensors[w.tensor];
        if (t.bytes() / t.stages % (s.cluster * tma_alignment) != 0)
          wrong("loads a stage of {} in {} parts; its {} bytes do not split into that many multiples of {}", t.name,
                s.cluster, t.bytes() / t.stages, tma_alignment);
      }
    });
}

/// Returns the names of the kinds of the steps as one string, for comparison and messages.
static std::string kinds(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += fmt::format("{}{}", text.empty() ? "" : ", ", kernel::name(step));
  return text.empty() ? "empty" : text;
}

/// Rejects the schedule unless its setup and teardown steps ensure two things: each mbarrier is initialised once,
/// before its first use, and no block of a cluster ends while other blocks may arrive at its mbarriers.
static void check_setup(const Kernel& s) {
  std::vector<Step> setup, teardown;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const Channel& channel = s.channels[c];
    const auto of_channel = [&](const Step& x) { return kernel::channel_of(x) == c; };
    const bool has = kernel::barrier_bytes(channel) > 0, shared = kernel::cluster_of(s, c) > 1;
    if (const auto times = std::ranges::count_if(s.setup, of_channel); times != has)
      reject(s, "setup initialises the mbarriers of channel {} {} times; it {}", channel.name, times,
             has ? "must once" : "has none");
    if (has) setup.push_back({.is = MbarrierInit{}});
    if (shared) teardown = {{.is = WarpBarrier{}}, {.is = ClusterBarrier{}}};
    for (const Agent& a : s.agents) {
      int times = 0;
      bool drains = false;  // in its last step that names the channel
      walk(a.steps, [&](const Step& x, const StepPosition&) {
        if (of_channel(x)) drains = as<Drain>(x), times += drains;
      });
      const bool must = shared && &a == &s.agents[channel.producer];
      if (times == must && drains == must) continue;
      reject(s, "agent {} drains channel {} {} times{}; {}", a.name, channel.name, times,
             times == 1 && must ? ", not as its last step of it" : "",
             must ? "its producer must once, last, since other blocks arrive at its barriers"
                  : "only the producer of a channel that is multicast does");
    }
  }
  if (!setup.empty())
    setup.push_back({.is = FenceInit{}}), setup.push_back({.is = s.cluster > 1 ? Sync(ClusterBarrier{}) : Barrier{}});
  const auto expect = [&](const char* title, const std::vector<Step>& steps, const std::vector<Step>& right) {
    if (kinds(steps) != kinds(right)) reject(s, "{} is {}; it must be {}", title, kinds(steps), kinds(right));
  };
  expect("setup", s.setup, setup);
  expect("teardown", s.teardown, teardown);
  for (const Step& step : s.setup)
    if (const Barrier* barrier = as<Barrier>(step); barrier && (barrier->id != 0 || !barrier->waits))
      reject(s, "setup waits at barrier {}; all threads of the block wait at barrier 0", barrier->id);
}

void check_other_arrivals(const Kernel& s) {
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const Channel& channel = s.channels[c];
    const int expected = kernel::arrivals_of(s, c);
    int releasing = 0, consuming = 0;  // number of warps
    for (const Agent& a : s.agents)
      walk(a.steps, [&](const Step& step, const StepPosition&) {
        if (as<Release>(step) && kernel::channel_of(step) == c) releasing += a.warps;
      });
    for (int consumer : channel.consumers) consuming += s.agents[consumer].warps;
    if (channel.by == Synchronisation::mbarrier_bytes && releasing == 0 && expected != consuming)
      reject(s,
             "the empty barriers of channel {}, none of whose stages is given back, wait for {} arrivals; its "
             "consumers have {} warps: initialise them for that number",
             channel.name, expected, consuming);
    if (const int arriving = (s.cluster - 1) * releasing; kernel::is_exchange(channel) && expected != arriving)
      reject(
          s,
          "the barrier of channel {} waits for {} arrivals, and gets {}: {} from each of {} other blocks; initialise "
          "it for that number",
          channel.name, expected, arriving, releasing, s.cluster - 1);
  }
}

void check_structure(const Kernel& s) {
  if (s.agents.empty()) reject(s, "has no agents; a schedule needs at least 1");
  check_tensors(s);
  check_channels(s);
  for (std::size_t i = 0; i < s.agents.size(); ++i)
    check_steps(s, static_cast<int>(i)), check_lanes_have_read(s, static_cast<int>(i));
  check_cluster(s);
  check_setup(s);
}

void check_limits(const Kernel& s, const target::Target& t) {
  check_threads(s, t);
  check_memory(s, t);
  check_registers(s, t);
  check_instructions(s, t);
}

}  // namespace zellige::verify
