// Scheduling: tasks into phases with the fewest barriers, and the depth of the loop's software pipeline.
//
// Inside a pipelined loop each iteration opens with: wait for its stage, one barrier, start the copies of a later
// stage. That barrier serves the copies, and the loop's back edge: what the last iteration read may be overwritten.
// Before: group, arrange_buffers. After: Buffer::stages; an Order, which agents.hpp makes the schedule of.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Tasks in phases; a barrier lies between two phases of one section.
struct Order {
  std::vector<int> before;                      // what is copied once for all iterations
  std::vector<std::vector<int>> ahead;          // phases in front of the loop: what is computed once
  std::vector<int> loop_copies;                 // copy_in tasks of the loop, `stages` deep in flight
  std::vector<std::vector<int>> inside, after;  // the loop's phases, and those behind it
  int stages = 1;
  bool before_barrier = false;  // between what is loaded once and the loop
  bool top_barrier = false;     // at the start of each iteration
  bool after_barrier = false;   // between the loop and what follows it
  std::int64_t blocks = 0;      // that stay for one tile after another; 0: each has its own
  int ranks =
      1;  // blocks of a cluster: rows of tiles that bring their columns' operand together, or slices of K
};

/// Where a program without a loop starts its copies: all before anything else, so that they travel together, or where
/// that costs least memory.
enum class Copies : std::uint8_t { first, late };

/// Blocks that stay load the next tile while they store one: the ring's memory is then nobody else's.
/// In pairs, each brings the other half of the operand that their tiles, one below the other, have in common.
/// With K split, both of a pair have the same tile and half of the loop each.
enum class Blocks : std::uint8_t { a_tile, stay, pairs, split_k };

Order pipeline(KernelPlan&, const target::Target&, Copies, Blocks = Blocks::a_tile);

}  // namespace zellige::plan
