#include <zellige/kernels/gemm_sm80.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using kernels::gemm_sm80;
using kernels::GemmSm80;

template <class Tile>
Outcome gemm(int m, int n, int k, int lda, int ldb, int ldc) {
  using T = typename Tile::Element;
  Tensor<T> a("A", (m - 1) * lda + k), b("B", Tile::along_k ? (n - 1) * ldb + k : (k - 1) * ldb + n),
      c("C", (m - 1) * ldc + n);
  a.random(1), b.random(2);
  return launch<gemm_sm80<Tile, Identity>>(
      {{ceil_div(n, Tile::n), ceil_div(m, Tile::m)}, {Tile::threads}, Tile::bytes},
      {a.in(), int64_t(lda), b.in(), int64_t(ldb), c.out(), int64_t(ldc), m, n, k, Identity{}}, {&c.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"edges", [] { return gemm<GemmSm80<half_t, 64, 64, 64, 3, 2, 2, false>>(70, 75, 300, 304, 80, 75); }},
          {"along k", [] { return gemm<GemmSm80<half_t, 32, 64, 64, 2, 1, 2, true>>(33, 71, 200, 200, 200, 74); }},
          {"even columns", [] { return gemm<GemmSm80<half_t, 32, 64, 64, 2, 1, 2, false>>(33, 70, 64, 64, 72, 74); }}};
}

}  // namespace mutants
