#include <zellige/kernels/softmax.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

template <int V, int Threads, int Chunks, bool Long>
Outcome softmax(int rows, int columns, int pitch, unsigned blocks) {
  Tensor<half_t> x("x", (rows - 1) * pitch + columns), y("y", (rows - 1) * pitch + columns);
  x.random(1, 3.0f);
  return launch<kernels::softmax<half_t, V, Threads, Chunks, Long>>(
      {{blocks}, {Threads}, Threads / 2}, {x.in(), y.out(), rows, columns, int64_t(pitch), int64_t(pitch)},
      {&y.buffer});
}
Outcome masked() {
  Tensor<half_t> x("x", 512), y("y", 512);
  x.random(1);
  for (int i = 0; i < 512; ++i)
    if (i % 512 != 7) x.data()[i] = half_t(-__builtin_inff());
  return launch<kernels::softmax<half_t, 8, 64, 1, false>>(
      {{1}, {64}, 32}, {x.in(), y.out(), 1, 512, int64_t(512), int64_t(512)}, {&y.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"part of a tile", [] { return softmax<8, 64, 2, false>(5, 776, 784, 2); }},
          {"one element at a time", [] { return softmax<1, 64, 2, false>(5, 101, 103, 2); }},
          {"long", [] { return softmax<8, 64, 1, true>(4, 1304, 1304, 1); }},
          {"masked", masked}};
}

}  // namespace mutants
