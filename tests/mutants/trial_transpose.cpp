#include <zellige/kernels/transpose.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

template <int R, int Slabs, int Threads, bool Aligned>
Outcome transpose(int rows, int columns, int pitch_x, int pitch_y) {
  Tensor<half_t> x("x", (rows - 1) * pitch_x + columns), y("y", (columns - 1) * pitch_y + rows);
  x.random(4);
  return launch<kernels::transpose<half_t, R, Slabs, Threads, Aligned>>(
      {{ceil_div(columns, 64 * Slabs), ceil_div(rows, R)}, {Threads}, R * 128 * Slabs},
      {x.in(), y.out(), rows, columns, int64_t(pitch_x), int64_t(pitch_y)}, {&y.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"aligned", [] { return transpose<64, 2, 128, true>(72, 200, 200, 72); }},
          {"any size", [] { return transpose<32, 1, 64, false>(37, 71, 71, 37); }}};
}

}  // namespace mutants
