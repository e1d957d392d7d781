#include "reference/gemm.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "reference/blas.hpp"

namespace zellige::reference {
namespace {

constexpr int mr = 4, nr = 12;    // register tile of C: 4 x 12 doubles, in 12 vectors of 4
constexpr std::int64_t kc = 256;  // a panel of B, kc x nr doubles, fits in the L1 cache

constexpr std::int64_t for_blas = 1 << 15;  // multiply-adds from which a BLAS call pays off

typedef double Register __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(Register& r, const double* from) { std::memcpy(&r, from, sizeof r); }
[[gnu::always_inline]] inline void store(double* to, const Register& r) { std::memcpy(to, &r, sizeof r); }

/// Adds the product of `rows` rows of A and a packed panel of B (k x nr, nr = 12) to a tile of C (rows x nr).
/// If `first`, overwrites C with the product.
template <int rows>
[[gnu::always_inline]] inline void tile(std::int64_t k, const double* a, std::int64_t lda, const double* panel,
                                        double* c, std::int64_t ldc, bool first) {
  Register sum[rows][3] = {};
  if (!first)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < 3; ++j) load(sum[i][j], c + i * ldc + 4 * j);
  for (std::int64_t p = 0; p < k; ++p) {
    Register b0, b1, b2;
    load(b0, panel + p * nr);
    load(b1, panel + p * nr + 4);
    load(b2, panel + p * nr + 8);
    for (int i = 0; i < rows; ++i) {
      const double x = a[i * lda + p];
      sum[i][0] += x * b0;
      sum[i][1] += x * b1;
      sum[i][2] += x * b2;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j) store(c + i * ldc + 4 * j, sum[i][j]);
}

/// Adds the product of m rows of A and a packed panel of B (k x nr, nr = 12) to m rows of nr columns of C. If
/// `first`, overwrites C with the product.
[[gnu::always_inline]] inline void tiles(std::int64_t m, std::int64_t k, const double* a, std::int64_t lda,
                                         const double* panel, double* c, std::int64_t ldc, bool first) {
  std::int64_t i = 0;
  for (; i + mr <= m; i += mr) tile<mr>(k, a + i * lda, lda, panel, c + i * ldc, ldc, first);
  switch (m - i) {
    case 3:
      return tile<3>(k, a + i * lda, lda, panel, c + i * ldc, ldc, first);
    case 2:
      return tile<2>(k, a + i * lda, lda, panel, c + i * ldc, ldc, first);
    case 1:
      return tile<1>(k, a + i * lda, lda, panel, c + i * ldc, ldc, first);
  }
}

using TilesFunction = void(std::int64_t, std::int64_t, const double*, std::int64_t, const double*, double*,
                           std::int64_t, bool);

void tiles_scalar(std::int64_t m, std::int64_t k, const double* a, std::int64_t lda, const double* panel, double* c,
                  std::int64_t ldc, bool first) {
  tiles(m, k, a, lda, panel, c, ldc, first);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void tiles_avx2(std::int64_t m, std::int64_t k, const double* a, std::int64_t lda,
                                            const double* panel, double* c, std::int64_t ldc, bool first) {
  tiles(m, k, a, lda, panel, c, ldc, first);
}
/// Returns the version of tiles() for the vector instructions of this CPU.
TilesFunction* best() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tiles_avx2 : tiles_scalar;
}
#else
TilesFunction* best() { return tiles_scalar; }
#endif

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc) {
  constexpr std::int64_t limit = std::numeric_limits<int>::max();  // range of a BLAS's integers
  const bool fits = std::max({m, n, k, lda, ldb, ldc}) <= limit;
  const bool by_library = fits && m * n * k >= for_blas && has_blas();
  (by_library ? blas_gemm : own_gemm)(m, n, k, a, lda, b, ldb, c, ldc);
}

void own_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
              std::int64_t ldb, double* c, std::int64_t ldc) {
  static TilesFunction* const run = best();
  double panel[kc * nr];
  std::vector<double> edge;  // computes the last columns, if they are fewer than nr
  for (std::int64_t j = 0; j < n; j += nr) {
    const std::int64_t width = std::min<std::int64_t>(nr, n - j);
    if (width < nr) edge.assign(m * nr, 0);
    for (std::int64_t p = 0; p < k; p += kc) {
      const std::int64_t depth = std::min(kc, k - p);
      for (std::int64_t q = 0; q < depth; ++q) {
        std::memcpy(panel + q * nr, b + (p + q) * ldb + j, width * sizeof(double));
        std::fill(panel + q * nr + width, panel + (q + 1) * nr, 0.0);
      }
      if (width < nr)
        run(m, depth, a + p, lda, panel, edge.data(), nr, p == 0);
      else
        run(m, depth, a + p, lda, panel, c + j, ldc, p == 0);
    }
    if (width < nr)
      for (std::int64_t i = 0; i < m; ++i) std::memcpy(c + i * ldc + j, edge.data() + i * nr, width * sizeof(double));
  }
}

}  // namespace zellige::reference
