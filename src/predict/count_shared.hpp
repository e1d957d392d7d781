// Predicts how many ordinary loads and stores of shared memory a loop nest executes, by access width and in
// wavefronts. The predictions equal the counts of the emulator, which runs the CUDA source on the CPU. Part of
// predict.hpp, which predicts all counters of a kernel.
//
//   for (const SharedAccess& a : nest_accesses(plan, steps)) ...   // steps with one thread-value layout
//
// The accesses, of which each has a coordinate in its buffer as a function of the nest's, follow from the items that
// evaluate() returns (kernel/evaluation.hpp), from which the emitter generates the source; tests/predict checks that they
// agree with the emulator's counters. Matrix loads and stores and asynchronous copies are not included.
#pragma once
#include <optional>

#include "kernel/evaluation.hpp"
#include "predict/predict.hpp"

namespace zellige::predict {

/// A condition under which an access is executed: the place `at` is below the limit if `holds`, not below it otherwise.
struct AccessCondition {
  kernel::TileCoordinate at;
  std::int64_t below = 0;
  bool holds = true;
};
// Value of SharedAccess::part.
constexpr int own_part = -1;
/// A load or store of shared memory by every thread of a loop nest. If several threads have the same value,
/// only the first of them stores it.
struct SharedAccess {
  int buffer = -1;
  bool load = true;                        // false: a store
  int bytes = 4;                           // per thread
  int part = 0;                            // which partial result; own_part: each warp's own
  std::vector<kernel::TileCoordinate> at;  // by dimension of the buffer
  std::vector<AccessCondition> where;      // conditions, all of which must be true
  bool invariant = false;                  // executed once before the loop along axis 0
};

/// Returns the accesses of steps that share a loop nest. Returns nullopt if the nest has elements beyond a tensor's
/// edge: these are neither evaluated nor stored, so the accesses differ between blocks or iterations.
std::optional<std::vector<SharedAccess>> nest_accesses(const kernel::Kernel&, kernel::StepSpan);

/// The counters of one loop nest, and whether they equal what the emulator would count.
struct SharedCounts {
  Counts counts;
  // False if the active lanes depend on the block, or there are too many elements to enumerate: `counts` is incomplete.
  bool exact = true;
  // Some lanes skip an access that others execute, and execute a later one: the emulator then combines accesses of
  // different instructions, and wavefronts differ.
  bool mixed = false;
  // Some lanes execute fewer accesses than others. If the nest runs twice without a barrier, it counts as `mixed`.
  bool ragged = false;
};

/// Returns the counters of the shared-memory accesses (executions by width, wavefronts) of one block that executes
/// these steps once. They are evaluated together in one loop nest.
SharedCounts count_shared(const kernel::Kernel&, kernel::StepSpan);
/// Returns the counters of the shared-memory stores that initialise the loop state of a work. Returns no counters if it
/// has no loop state in shared memory.
SharedCounts count_start(const kernel::Kernel&, const kernel::Work&);

}  // namespace zellige::predict
