// Splits a kernel's tasks into phases with the fewest barriers, and chooses the number of stages of the
// loop's software pipeline.
//
// In a pipelined loop each iteration waits for its stage, executes one barrier, and starts the copies for a
// later stage. The barrier makes the stage visible to all threads, and ensures that the stage that is
// overwritten has been read by all of them.
//
// Runs after group and arrange_buffers, which decide the tasks and the layouts of buffers. Sets SmemTensor::stages,
// Kernel::blocks and cluster, and returns the phases, from which build_agents() (agents.hpp) makes the warp roles.
#pragma once
#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// When a kernel starts the loads that it needs after the loop. `first`: all at the beginning, so that they
/// are in flight together. `last`: each in the phase in which it needs the least shared memory.
enum class Copies : std::uint8_t { first, last };

/// How blocks are assigned to output tiles of a matmul on warpgroups.
///
/// - a_tile: one block per tile.
/// - persistent: each block computes several tiles, and loads the next one while it stores one. The
///   ring's memory is therefore not reused by the epilogue.
/// - pairs: clusters of two persistent blocks with vertically adjacent tiles; each block loads half of
///   the common operand for both.
/// - split_k: clusters of blocks with the same tile; each accumulates a part of the loop.
enum class Blocks : std::uint8_t { a_tile, persistent, pairs, split_k };

/// A way of assigning blocks to output tiles, with the number of blocks of a cluster.
struct BlockAssignment {
  BlockAssignment(Blocks b) : BlockAssignment(b, b == Blocks::pairs || b == Blocks::split_k ? 2 : 1) {}
  BlockAssignment(Blocks b, int r) : blocks(b), cluster(r) {}
  Blocks blocks;
  int cluster;
};

/// Returns the plan's tasks in phases. Sets SmemTensor::stages of the buffers that the loop fills,
/// Kernel::blocks and cluster. `Copies` says when the copies for the work after the loop start, and
/// `Blocks` how output tiles are assigned to blocks.
selection::PhasedTasks pipeline(kernel::Kernel&, const selection::Tasks&, const target::Target&, Copies,
                                Blocks = Blocks::a_tile);

/// Takes stages from a TMA producer's ring until at least `bytes` bytes are saved. The first choice of stages assumes
/// that tensors of the epilogue reuse the ring's memory, which those loaded before the loop cannot. Returns false, and
/// changes nothing, if there is no such ring or fewer than two stages would be left.
bool shorten_ring(kernel::Kernel&, const selection::Tasks&, const selection::PhasedTasks&, std::int64_t bytes);

/// Where a kernel needs barriers around its loop. Those in it are block_loop()'s.
struct LoopBarriers {
  bool before = false;        // between the loads before the loop and the loop
  bool after = false;         // between the loop and the phases after it
  bool copies_cross = false;  // threads read in the loop what others have copied
};
LoopBarriers loop_barriers(const kernel::Kernel&, const selection::Tasks&, const selection::PhasedTasks&);

}  // namespace zellige::plan
