#include <zellige/kernels/gemm_ragged.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using kernels::gemm_ragged;
using kernels::GemmRagged;

template <int Stages, bool AlongK>
void from(gmem<const half_t> a, gmem<const half_t> b, gmem<half_t> c, int lead_a, int lead_b, int m, int n, int k) {
  gemm_ragged<half_t, 32, 32, Stages, AlongK, Identity>(a + lead_a, k, b + lead_b, AlongK ? k : n, c, n, m, n, k,
                                                        Identity{});
}
template <int Stages, bool AlongK>
Outcome gemm(int m, int n, int k, int lead_a, int lead_b) {
  Tensor<half_t> a("A", lead_a + m * k), b("B", lead_b + k * n), c("C", m * n);
  a.random(1), b.random(2);
  return launch<from<Stages, AlongK>>(
      {{ceil_div(n, 32), ceil_div(m, 32)}, {256}, GemmRagged<32, 32, Stages, AlongK>::bytes},
      {a.in(), b.in(), c.out(), lead_a, lead_b, m, n, k}, {&c.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"odd pitches", [] { return gemm<2, false>(35, 37, 801, 0, 0); }},
          {"operands that start anywhere", [] { return gemm<2, false>(9, 11, 29, 3, 6); }},
          {"along k", [] { return gemm<2, true>(35, 33, 801, 5, 2); }}};
}

}  // namespace mutants
