// Measures how long a program takes on the GPU.
//
// `rotated` measures with a cold L2: each evaluation has its own inputs and outputs, with enough sets to
// exceed the L2 three times, and a CUDA graph evaluates each set once. Rounds alternate between three ways of
// launching: overlapping evaluations, as in one stream whose kernels start early; evaluations one after
// another; kernels one after another.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace zellige::run {

class Stream;
class LoadedProgram;
class BoundProgram;

enum class Timing : std::uint8_t {
  off,
  rotated,
  hot,  // one set of buffers, 200 evaluations, each between two events
};
std::string_view name(Timing);

/// Microseconds per evaluation; `rotated`: one sample per round.
struct Times {
  Timing how{};
  int sets = 1;                 // of inputs and outputs
  std::vector<double> samples;  // rotated: overlapping evaluations if their kernels start early
  std::vector<double> without_overlap,
      ordered;  // rotated, if kernels start early: evaluations one after another, kernels one after another
};

Times time_hot(Stream&, const BoundProgram&);

/// `sets`: the program, bound to each set of inputs and outputs. Brief: three rounds, of overlapping
/// evaluations only.
Times time_rotated(Stream&, const LoadedProgram&, const std::vector<BoundProgram>& sets, bool brief = false);

/// Number of sets of `bytes` bytes that exceed the device's L2 three times; at most 64.
int sets_beyond_l2(std::int64_t bytes);

}  // namespace zellige::run
