// Uses the machine's BLAS (OpenBLAS) for the reference's matmuls: two to three times as fast as our own loop
// (gemm.cpp).
//
//   if (const Blas* b = blas()) b->multiply(m, n, k, a, lda, x, ldx, c, ldc);
//
// Loads the library at run time, like the GPU driver, so that one binary runs with and without it. Without a
// BLAS, matmuls are slower and have the same meaning. A library is tried first: it must multiply integer
// matrices exactly, because some versions compute wrong results on processors newer than they are.
#pragma once
#include <cstdint>
#include <string>

namespace zellige::graph {

class Blas {
 public:
  /// C = A B, float64, row-major, in one thread. Thread-safe; calls wait for one another if the library is
  /// built single-threaded. The summation order is unspecified.
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
                const double* b, std::int64_t ldb, double* c, std::int64_t ldc) const;

 private:
  friend struct LoadedBlas;
  using Dgemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                     double*, int);
  Dgemm* dgemm_ = nullptr;
  bool one_at_a_time_ = false;
};

/// Returns the library that $ZELLIGE_BLAS names, else libopenblas.so.0. Returns nullptr if it does not exist,
/// fails the trial, or $ZELLIGE_BLAS is "none". Throws Error if the library named cannot be loaded.
const Blas* blas();

/// "OpenBLAS 0.3.21 ... SkylakeX", or why no BLAS is used: "no BLAS: libopenblas.so.0: cannot open ...".
std::string describe_blas();

}  // namespace zellige::graph
