#include <zellige/kernels/descriptors.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using namespace kernels;

template <class L>
Outcome linear(LinearShape s, unsigned blocks) {
  using E = typename L::Element;
  Tensor<E> x("X", std::size_t(s.rows) * s.k), w("W", std::size_t(s.n) * s.k), v("V", std::size_t(s.n) * s.k),
      y("Y", std::size_t(s.rows) * s.n);
  x.random(1), w.random(2), v.random(3);
  const LinearTensors<L> t(s);
  return launch<linear_sm90<L>>({{blocks}, {L::threads}, L::shared_bytes},
                                {constant(map_of(t.w, w)), constant(map_of(t.v, v)), map_of(t.x, x), y.out(), s},
                                {&y.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"product",
           [] {
             return linear<FewRows<half_t, Weights::nk, LinearWork::product, 16, 4>>({13, 200, 1600}, 1);
           }},
          {"few steps a tile",
           [] {
             return linear<FewRows<half_t, Weights::nk, LinearWork::product, 16, 4>>({13, 512, 256}, 1);
           }},
          {"rms norm",
           [] {
             return linear<FewRows<half_t, Weights::kn, LinearWork::rms_norm, 8, 4>>({5, 136, 1600}, 1);
           }},
          {"gated", [] {
             return linear<FewRows<half_t, Weights::kn, LinearWork::gated, 16, 4>>({13, 72, 1600}, 2);
           }}};
}

}  // namespace mutants
