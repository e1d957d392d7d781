// Makes a LoopGraph of the tasks that a kernel's loop repeats: products that warpgroups start, what threads compute, and the
// copies of a producer.
//
//   LoopParts parts = loop_parts(kernel, tasks, phases);
//   parts.graph.items[0].name      // "scores": products that start together and are awaited together
//   parts.parts[0].tasks           // the tasks of this item
//
// Tasks are one item if they wait for the same products. Which they are follows from what each reads: its own iteration's
// products and, where it changes registers that a product reads, that product in the iteration before.
#pragma once
#include "kernel/kernel.hpp"
#include "schedule/peeled_loop.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// What an item of a loop does.
struct LoopPart {
  std::vector<int> tasks = {};  // of copies, products or computations; empty: it releases a stage
  int products = -1;  // the group of products: its own or, of a computation, that which it awaits last; -1: none
  // The ring that its copies fill, its products or computations read, or whose stage it releases; -1: none.
  int ring = -1;
  bool acquires = false;  // it is the first of an iteration that reads a stage of the ring
};

/// A loop's graph, and by item what it does. Rings and groups of products have numbers in the order of first use: ring r has the
/// tiles that group r reads.
struct LoopParts {
  static constexpr int consumer = 0, producer = 1, multiplier = 2;  // roles: indices of the kernel's agents
  schedule::LoopGraph graph;
  schedule::LoopSchedule times;
  std::vector<LoopPart> parts;
  int groups = 0;  // of products
  int sets = 0;    // of columns into which a multiplier multiplies; 0: there is none
  int counter =
      0;  // the item whose iterations the consumer's loop counts: the first computation, else the last release, or the products of warps
};

/// The loop of an agent that copies tiles for itself. In each iteration it waits for the tiles of the iteration, starts the copies of
/// a later one, and does its phases of work.
struct BlockLoop {
  enum Item : std::uint8_t { work, copies, wait };
  // Of each iteration, of these items or of `work` alone: a guard skips copies for iterations that there are not.
  const std::vector<schedule::LoopEntry>& body;
  // Places before which a barrier is, where each phase of the work has a place of its own.
  std::vector<int> barriers = {};
  std::int64_t ahead = 0;  // iterations by which copies precede the work that reads them
};

/// Returns the loop of an agent that copies tiles for itself. `cross`: threads read what others have copied.
BlockLoop block_loop(const kernel::Kernel&, const selection::PhasedTasks&, bool cross);

/// Returns the cycles for which an asynchronous matmul occupies the tensor cores.
std::int64_t cycles_of(const kernel::MatmulChoice&);

/// Returns the parts of the loop of a kernel whose products are asynchronous, and whose tiles a producer loads. If there are sets of
/// columns, a role of its own multiplies, and a stage of a ring is free when the products that it has started are complete.
LoopParts loop_parts(const kernel::Kernel&, const selection::Tasks&, const selection::PhasedTasks&, int sets = 0);

}  // namespace zellige::plan
