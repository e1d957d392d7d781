// Adds steps to an agent (warp role): the loops, barriers and waits that are in its code, and the steps that execute
// tasks, one at a time (AgentSteps) or by phases, the tasks between two barriers (PhaseSteps). agents.cpp and multiplier.cpp decide their
// order.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "plan/loop_parts.hpp"
#include "plan/pipeline.hpp"
#include "selection/task.hpp"
#include "target/pipe.hpp"

namespace zellige::plan {

/// The agent whose steps are being added.
class AgentSteps {
 protected:
  /// `tasks` are the kernel's tasks. A step that executes one of them is added with its index.
  AgentSteps(kernel::Kernel& kernel, const selection::Tasks& tasks) : plan_(kernel), tasks_(tasks) {}

  /// Appends a step to the current agent (warp role), inside the innermost loop that is open, and returns the step.
  /// `is`: what the step does; `what`: its description in messages.
  template <class Alternative>
  kernel::Step& step(Alternative is, std::string what = "") {
    std::vector<kernel::Step>* open = &agent_.steps;
    for (int loop = 0; loop < loops_; ++loop) open = &kernel::as<kernel::Loop>(open->back())->body;
    return open->emplace_back(kernel::Step{.is = std::move(is), .what = std::move(what)});
  }
  void barrier() { step(kernel::Barrier{.id = barrier_}); }
  void arrive(int pending = 0, int channel = -1) { step(kernel::WaitGroup{pending, channel}); }
  void commit(int channel = -1) { step(kernel::Commit{channel}); }
  void acquire(int channel) { step(kernel::Acquire{channel}); }
  void release(int channel) { step(kernel::Release{.channel = channel}); }
  void open(kernel::Loop loop) { step(std::move(loop)), ++loops_; }
  void close() { --loops_; }

  bool copies(int t) const { return kernel::is_global_load(tasks_[t].kind); }
  /// Returns whether task `t` loads a tile by cp.async. The schedule must then commit the copy's cp.async group, and
  /// wait for it.
  bool travels(int t) const { return copies(t) && tasks_[t].copy.async(); }
  /// Returns whether task `t` is a load or store by TMA.
  bool uses_tma(int t) const { return tasks_[t].copy.by_tensor_map(); }

  /// Adds griddepcontrol.wait, after which the current agent (warp role) may access any global memory. Does nothing
  /// if the agent has already waited or needs no wait.
  void depend();

  /// Adds and returns the step that executes task `t`. In a software pipeline the step works on the tile that is
  /// needed `lag` iterations later, and is skipped in the last `lag` iterations.
  kernel::Step& run(int t, int lag = 0);

  /// Adds and returns the step that sets the loop-carried state of task `t`, such as its accumulators, to its initial
  /// value.
  kernel::Step& start(int t);

  kernel::Kernel& plan_;
  const selection::Tasks& tasks_;
  kernel::Agent agent_;
  bool waited_ = false;  // the current agent has the wait for earlier kernels, or needs none
  int barrier_ = 0;      // id of the barrier among the current agent's threads; 0: __syncthreads
  int cp_async_ = -1;    // the channel of copies by cp.async outside the loop; -1: none

 private:
  /// Returns the description of a task in messages.
  std::string describe(const selection::WorkItem&) const;
  /// Returns what a task accesses in global memory.
  kernel::Global accessed_by(const selection::WorkItem&) const;

  int loops_ = 0;  // number of open loops
};

/// Returns the maximum number of output tiles that one block computes; whether it computes several.
inline std::int64_t tiles_each(const kernel::Kernel& kernel) {
  return kernel.blocks == 0 ? 1 : tile::ceil_div(kernel.program.grid.count() * kernel.parts_of_loop(), kernel.blocks);
}
inline bool several_tiles(const kernel::Kernel& kernel) { return tiles_each(kernel) > 1; }
/// Returns the loop over the output tiles of a persistent block.
inline kernel::Loop output_tiles(const kernel::Kernel& kernel) {
  return {.kind = kernel::Loop::tiles, .trip_count = tiles_each(kernel), .each = kernel.iterations_per_block()};
}

/// The channels of a producer and a consumer; -1: absent.
struct AgentChannels {
  // By group of asynchronous products of the loop: its accumulators, and the ring of the tiles that it reads.
  std::vector<int> accumulators = {}, rings = {};
  int cp_async = -1, stores = -1;  // copies by cp.async and TMA stores outside the loop
  int resident = -1;               // tiles that are loaded once
  int exchange = -1;               // split-K's exchange
  int sets = -1;                   // sets of columns into which another agent multiplies
};

/// What agents are made from, and the channels between them.
struct AgentInputs {
  kernel::Kernel& kernel;
  const selection::Tasks& tasks;
  const selection::PhasedTasks& phases;
  LoopBarriers barriers;
  AgentChannels channels = {};
  LoopParts loop = {};  // of a producer and a consumer
};

/// An agent, and the steps of phases of tasks.
class PhaseSteps : protected AgentSteps {
 public:
  /// `waits`: whether the agent waits for earlier kernels.
  PhaseSteps(const AgentInputs& from, std::string name, int warps, int registers = 0, bool waits = true)
      : AgentSteps(from.kernel, from.tasks),
        phases_(from.phases),
        barriers_(from.barriers),
        channels_(from.channels),
        parts_(from.loop) {
    agent_.name = std::move(name), agent_.warps = warps, agent_.registers = registers;
    waited_ = !waits, barrier_ = channels_.rings.empty() ? 0 : 1, cp_async_ = channels_.cp_async;
  }

 protected:
  /// Adds the steps that initialise the states of the loop, those of products among them or not.
  void start_states(bool products) {
    for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
      const selection::WorkItem& task = tasks_[t];
      const bool carried = plan_.program.nodes[task.node].carried &&
                           ((products && task.kind == kernel::WorkKind::mma) || task.kind == kernel::WorkKind::reduce);
      if (!carried && task.kind != kernel::WorkKind::accumulate) continue;
      kernel::Step& s = start(t);
      if (task.kind == kernel::WorkKind::accumulate && task.tensor >= 0) s.writes.push_back({task.tensor, 0, true});
    }
  }

  /// Adds the steps of the tasks of one phase (between two barriers). A matmul that is computed in slices of N
  /// becomes a loop over the slices, together with the tasks that read each slice's accumulators. `of`: the channel of
  /// the asynchronous matmuls whose accumulators the tasks read.
  void work(const std::vector<int>& tasks, int of = -1) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const selection::WorkItem& task = tasks_[tasks[i]];
      const int slices = task.kind == kernel::WorkKind::mma ? plan_.layout_of(task).repeats() : 1;
      if (slices == 1) {
        kernel::Step& s = run(tasks[i]);
        if (kernel::Compute* compute = kernel::as<kernel::Compute>(s)) compute->channel = of;
        if (kernel::Copy* copy = kernel::as<kernel::Copy>(s)) {
          copy->channel = channels_.stores;  // adjacent TMA stores are one group
          if (i + 1 == tasks.size() || !uses_tma(tasks[i + 1])) commit(channels_.stores);
        }
        continue;
      }
      const auto takes_on = [&](const selection::WorkItem& next) {  // it works on the same accumulators
        return next.context == task.context && next.kind != kernel::WorkKind::finish &&
               next.kind != kernel::WorkKind::mma;
      };
      std::size_t last = i;
      while (last + 1 < tasks.size() && takes_on(tasks_[tasks[last + 1]])) ++last;
      for (std::size_t k = i; k <= last; ++k) {
        const selection::WorkItem& sum = tasks_[tasks[k]];  // a reduction over all slices is initialised before them
        if (sum.kind == kernel::WorkKind::reduce && !plan_.program.nodes[sum.node].carried) start(tasks[k]);
      }
      open({.kind = kernel::Loop::slices, .trip_count = slices});
      for (; i < last; ++i) run(tasks[i]);
      run(tasks[i]);
      close();
    }
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
  const LoopBarriers barriers_;
  const AgentChannels channels_;
  const LoopParts& parts_;
};

}  // namespace zellige::plan
