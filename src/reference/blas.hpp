// Calls the machine's BLAS (OpenBLAS) for the matmuls of the float64 reference. It is two to three times as
// fast as the built-in loop (gemm.cpp).
//
//   // c = a b, row-major: a is m x k, b is k x n
//   if (const Blas* library = blas()) library->multiply(m, n, k, a, lda, b, ldb, c, ldc);
//
// The library is loaded at run time, so that one binary runs with and without it. If there is no BLAS, the
// caller uses the built-in loop. A library is used only if it multiplies integer matrices exactly, because some
// versions compute wrong results on processors that are newer than the library.
#pragma once
#include <cstdint>
#include <string>

namespace zellige::reference {

/// A loaded BLAS library; obtained from blas().
class Blas {
 public:
  /// Computes C = A B in float64, with row-major matrices, on the calling thread. `lda`, `ldb` and `ldc` are
  /// row strides in elements. Thread-safe; if the library is built single-threaded, concurrent calls are
  /// serialized. The summation order is unspecified.
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
                std::int64_t ldb, double* c, std::int64_t ldc) const;

 private:
  friend struct LoadedBlas;
  using Dgemm = void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                     int);
  Dgemm* dgemm_ = nullptr;
  bool one_at_a_time_ = false;
};

/// Returns the library that $ZELLIGE_BLAS names, or libopenblas.so.0 if it is unset. Returns nullptr if the
/// default library cannot be loaded, if the library multiplies integers wrongly, or if $ZELLIGE_BLAS is
/// "none". Throws Error if the library that $ZELLIGE_BLAS names cannot be loaded.
const Blas* blas();

/// Returns the library's version, such as "OpenBLAS 0.3.21 ... SkylakeX", or the reason why no BLAS is used,
/// such as "no BLAS: libopenblas.so.0: cannot open ...".
std::string describe_blas();

}  // namespace zellige::reference
