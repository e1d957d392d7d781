// The machine's BLAS, OpenBLAS, for the reference's products: two to three times as fast as our own loop (gemm.cpp).
//
//   if (const Blas* b = blas()) b->multiply(m, n, k, a, lda, x, ldx, c, ldc);
//
// It is loaded at run time, as the GPU's driver is, so that one binary runs with and without it. Without it products take
// longer and mean the same. What is found is tried first: it must multiply matrices of integers exactly, for there are
// versions that go wrong on processors younger than they.
#pragma once
#include <cstdint>
#include <string>

namespace zellige::graph {

class Blas {
 public:
  /// C = A B, float64, row-major, in one thread; many threads may call it at once, and wait for one another
  /// where the library is built for one. Sums in an order of its own.
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
                const double* b, std::int64_t ldb, double* c, std::int64_t ldc) const;

 private:
  friend struct LoadedBlas;
  using Dgemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                     double*, int);
  Dgemm* dgemm_ = nullptr;
  bool one_at_a_time_ = false;
};

/// The library that $ZELLIGE_BLAS names, else libopenblas.so.0; nullptr where there is none, where it failed the trial, or where
/// $ZELLIGE_BLAS is "none". Throws Error if the library that was named cannot be loaded.
const Blas* blas();

/// "OpenBLAS 0.3.21 ... SkylakeX", or why products are our own: "no BLAS: libopenblas.so.0: cannot open ...".
std::string describe_blas();

}  // namespace zellige::graph
