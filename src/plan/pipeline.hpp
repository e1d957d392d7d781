// Schedules tasks into phases with the fewest barriers, and chooses the depth of the loop's software
// pipeline.
//
// Inside a pipelined loop each iteration starts with: wait for its stage, one barrier, start the copies of a
// later stage. That barrier serves the copies and the loop's back edge: what the last iteration read may be
// overwritten.
// Before: group, arrange_buffers. After: Buffer::stages; an Order, from which agents.hpp builds the schedule.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Tasks in phases; two phases of one section are separated by a barrier.
struct Order {
  std::vector<int> before;                      // what is copied once for all iterations
  std::vector<std::vector<int>> prologue;       // phases before the loop: what is computed once
  std::vector<int> loop_copies;                 // copy_in tasks of the loop, `stages` deep in flight
  std::vector<std::vector<int>> inside, after;  // the loop's phases, and those after it
  int stages = 1;
  bool before_barrier = false;  // between the loads before the loop and the loop
  bool top_barrier = false;     // at the start of each iteration
  bool after_barrier = false;   // between the loop and the phases after it
  std::int64_t blocks = 0;      // persistent blocks; 0: a block per tile
  // Blocks per cluster: rows of tiles that share the load of their columns' operand, or slices of K.
  int ranks = 1;
};

/// When a program without a loop starts its copies: all of them first, so that they are in flight together,
/// or where this needs the least memory.
enum class Copies : std::uint8_t { first, last };

/// How blocks take tiles. `persistent`: persistent blocks, which load the next tile while they store one, so that
/// the ring's memory is not reused. `pairs`: clusters of two persistent blocks with vertically adjacent
/// tiles, each of which loads half of the common operand. `split_k`: both of a pair have the same tile and
/// half of the loop each.
enum class Blocks : std::uint8_t { a_tile, persistent, pairs, split_k };

Order pipeline(KernelPlan&, const target::Target&, Copies, Blocks = Blocks::a_tile);

/// A loop whose iterations are copied to shared memory by cp.async.
struct CopiedLoop {
  std::int64_t blocks, loop;  // blocks of the grid; iterations
  int threads;
  std::int64_t stage_bytes, other_bytes;  // of an iteration's copies; of everything else in shared memory
};
/// How many iterations have a buffer: enough for the bytes in flight that cover the latency of a load,
/// together with the blocks on the same multiprocessor.
int copy_stages(const CopiedLoop&, const target::Target&);

}  // namespace zellige::plan
