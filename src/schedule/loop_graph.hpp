// LoopGraph: the work of one iteration of a kernel's loop, and what must come before what, in the same iteration or in a
// later one. From it modulo_schedule() finds what starts ahead (software pipelining), and peel() what waits for what.
//
//   // A product on the tensor cores, and work of the threads that reads its result and then lets it be overwritten.
//   LoopGraph g;
//   g.items = {{.name = "scores", .by = Completion::commit_group, .unit = 0, .cycles = 512},
//              {.name = "softmax", .cycles = 900}};
//   g.dependences = {{0, 1}, {1, 0, 1}};
//
// Roles, units and completions are data: a copy by TMA is an item of a producer role that completes at an mbarrier, a
// product by tcgen05 one of a role of one thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include <zellige/atom/instruction.hpp>

namespace zellige::schedule {

/// One piece of an iteration's work: what a warp role carries out, or what it starts.
struct LoopItem {
  std::string name = {};
  int role = 0;  // the warp role that executes or starts it; a role takes its items in order
  // How its role learns that it is complete. at_once: the role carries it out, and goes on afterwards.
  Instruction::Completion by = Instruction::Completion::at_once;
  int unit = -1;  // carries out what does not complete at once, one item after another; -1: any number at a time
  // For which it occupies its unit or, if it completes at once, its role. 0: a signal, such as the release of a stage.
  std::int64_t cycles = 1;
  std::int64_t latency = 0;  // further cycles until its results are there
  // Starts as many iterations ahead as its dependences allow, because its latency is not known: a copy from global memory.
  bool early = false;

  bool asynchronous() const { return by != Instruction::Completion::at_once; }
  /// Returns whether the role waits for it by the number of groups that may be incomplete, as for wgmma and cp.async.
  bool in_groups() const { return asynchronous() && by != Instruction::Completion::mbarrier_bytes; }
};

/// Item `to` of iteration i + distance starts after item `from` of iteration i is complete.
struct LoopDependence {
  int from = 0, to = 0;
  int distance = 0;
};

/// The items of an iteration, and their dependences. Items of one role that depend on each other within an iteration are
/// in the order of their indices.
struct LoopGraph {
  std::vector<LoopItem> items;
  std::vector<LoopDependence> dependences;
};

}  // namespace zellige::schedule
