// How long a program takes on the GPU.
//
// As a caller finds it (`rotated`): each evaluation has inputs and outputs of its own, so many that together they pass the L2
// three times, and a CUDA graph evaluates each set once. Rounds go back and forth between three ways of launching: evaluations
// that overlap, as those of one stream do whose kernels start early; evaluations one after another; kernels one after another.
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
  hot,  // one set of buffers, 200 evaluations with events around each
};
std::string_view name(Timing);

/// Microseconds of one evaluation; of `rotated` one sample a round.
struct Times {
  Timing how{};
  int sets = 1;                 // of inputs and outputs
  std::vector<double> samples;  // rotated: of evaluations that overlap, where their kernels start early
  std::vector<double> apart,
      ordered;  // rotated, where kernels start early: evaluations, kernels one after another
};

Times time_hot(Stream&, const BoundProgram&);

/// `sets`: the program bound to so many sets of inputs and outputs. Brief: three rounds, of evaluations that overlap.
Times time_rotated(Stream&, const LoadedProgram&, const std::vector<BoundProgram>& sets, bool brief = false);

/// How many sets of so many bytes pass the device's L2 three times; at most 64.
int sets_past_l2(std::int64_t bytes);

}  // namespace zellige::run
