// Lists the ordinary loads and stores of shared memory that a loop nest of the generated source executes.
// Each access has a width, and a coordinate in the buffer, which is a function of the loop nest's current
// coordinate. Bank conflicts and counters are predicted from this list.
//
//   for (const SharedAccess& a : nest_accesses(plan, steps)) ...   // steps with one thread-value layout
//
// Matrix loads and stores and asynchronous copies are not included. The accesses are derived from the items that
// evaluate() returns (kernel/evaluation.hpp), from which the emitter generates the source; tests/predict
// checks that they agree with the emulator's counters.
#pragma once
#include <optional>

#include "kernel/evaluation.hpp"

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

}  // namespace zellige::predict
