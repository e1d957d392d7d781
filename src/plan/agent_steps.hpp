// Adds steps to an agent (warp role): the loops, barriers and waits that are in its code, and the steps that execute
// tasks. agents.cpp decides their order.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "selection/task.hpp"

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

}  // namespace zellige::plan
