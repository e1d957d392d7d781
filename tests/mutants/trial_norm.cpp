#include <zellige/kernels/norm.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using kernels::Norm;

template <Norm Kind, int V, int Threads, int Chunks, bool Long>
Outcome norm(int rows, int columns, int pitch, unsigned blocks) {
  Tensor<half_t> x("x", (rows - 1) * pitch + columns), w("w", columns), b("b", columns),
      y("y", (rows - 1) * pitch + columns);
  x.random(1), w.random(2), b.random(3);
  return launch<kernels::norm<Kind, half_t, V, Threads, Chunks, Long>>(
      {{blocks}, {Threads}, Threads},
      {x.in(), w.in(), b.in(), y.out(), rows, columns, int64_t(pitch), int64_t(pitch), 1e-3f}, {&y.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"layer", [] { return norm<Norm::layer, 8, 64, 2, false>(5, 776, 784, 2); }},
          {"rms, one element at a time", [] { return norm<Norm::rms, 1, 64, 2, false>(5, 101, 103, 2); }},
          {"long", [] { return norm<Norm::layer, 8, 64, 1, true>(4, 1304, 1304, 1); }}};
}

}  // namespace mutants
