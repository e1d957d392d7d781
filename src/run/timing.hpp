// Measures how long a program takes on the GPU, with a cold L2 (`rotated`) or a warm one (`hot`).
//
// For `rotated`, each evaluation in a round has inputs and outputs of its own. Together these exceed three
// times the L2's size, so that none is in the L2 when it is used. A CUDA graph evaluates each set of inputs
// and outputs once. If the program has kernels with programmatic dependent launch (PDL), rounds alternate
// between three ways of launching; otherwise all are launched in way 3:
// 1. All kernels may start before the previous one has ended, also across evaluations.
// 2. Evaluations run one after another; kernels within an evaluation may overlap.
// 3. Kernels run one after another.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace zellige::run {

/// The kind of time measurement on the GPU.
enum class Timing : std::uint8_t {
  off,
  rotated,  // cold L2: each evaluation has inputs and outputs of its own
  hot,      // warm L2: one set of inputs and outputs, 200 evaluations, each between two events
};
constexpr std::string_view name(Timing t) {
  constexpr std::string_view names[] = {"off", "rotated", "hot"};
  return names[static_cast<int>(t)];
}

/// Measured times of a program on the GPU, in microseconds per evaluation.
struct Times {
  Timing how{};
  int sets = 1;  // number of sets of inputs and outputs
  // hot: one per evaluation; rotated: one per round, launched in way 1, or without PDL in way 3
  std::vector<double> samples;
  // rotated, with PDL: one per round, launched in way 2, and in way 3
  std::vector<double> without_overlap, ordered;
};

}  // namespace zellige::run
