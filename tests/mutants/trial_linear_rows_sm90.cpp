#include <zellige/kernels/descriptors.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using namespace kernels;

template <class L>
Outcome linear_rows(LinearShape s, unsigned blocks) {
  using E = typename L::Element;
  Tensor<E> x("X", std::size_t(s.rows) * s.k), w("W", std::size_t(s.n) * s.k), y("Y", std::size_t(s.rows) * s.n);
  x.random(1), w.random(2);
  const RowsTensors<L> t(s);
  return launch<linear_rows_sm90<L, Activate<Relu>>>(
      {{blocks}, {L::threads}, L::shared_bytes},
      {constant(map_of(t.w, w)), map_of(t.x, x), map_of(t.y, y, true), s, Activate<Relu>{}}, {&y.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"stages come round",
           [] {
             return linear_rows<ManyRows<half_t, 64>>({57, 136, 1000}, 1);
           }},
          {"few steps a tile", [] {
             return linear_rows<ManyRows<half_t, 128>>({100, 328, 128}, 2);
           }}};
}

}  // namespace mutants
