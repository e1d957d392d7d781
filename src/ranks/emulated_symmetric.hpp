// Runs a step in which ranks exchange tiles on the emulator: the blocks with the same number of all ranks run together, each with the
// memory of its rank, so that they wait for each other as on GPUs.
//
//   EmulatedSymmetric symmetric(step, graph, cache);
//   symmetric.run(memory, /*schedule=*/7);   // one launch on every rank; the next one uses the other halves of the windows
#pragma once
#include <deque>
#include <map>

#include "ranks/symmetric_steps.hpp"

namespace zellige::ranks {

class EmulatedSymmetric {
 public:
  /// The step and the cache must outlive the object. Throws as run_emulated() does.
  EmulatedSymmetric(const RankStep&, int ranks, const toolchain::Cache&);
  /// Launches the step's kernels once on all ranks. memory[r][t] has the bytes of tensor t of rank r. `schedule`: seed of a
  /// random order of ranks and threads; 0: a fixed one.
  run::EmulatedRun run(std::vector<std::vector<run::Bytes>>& memory, unsigned schedule = 0);
  /// Launches the same step at other values of its sizes: `step` is that of at_values().
  run::EmulatedRun run(const RankStep& step, std::vector<std::vector<run::Bytes>>& memory, unsigned schedule);

 private:
  emulate::Buffer* buffer(const RankStep&, int rank, int tensor);

  const RankStep& step_;
  const toolchain::Cache& cache_;
  int ranks_;
  // By rank; they last from launch to launch.
  std::deque<emulate::Buffer> windows_, sums_, flags_, states_;
  std::vector<std::map<int, emulate::Buffer>> others_;  // by tensor of the manifest
};

}  // namespace zellige::ranks
