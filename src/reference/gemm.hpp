// Multiplies row-major float64 matrices, C = A B, for the reference. Large matrices use a BLAS if there is
// one (blas.hpp), others a vectorized loop.
#pragma once
#include <cstdint>

namespace zellige::reference {

/// Computes c = a b, where a is m x k, b is k x n and c is m x n. `lda`, `ldb` and `ldc` are row strides in
/// elements. Each element is a float64 sum in unspecified order, with an error of at most k 2^-53 times the
/// sum of the terms' magnitudes. Results are bitwise reproducible for any number of threads.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc);

/// Computes c = a b with the built-in loop, which adds in ascending order of k. The arguments are those of gemm().
void own_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
              std::int64_t ldb, double* c, std::int64_t ldc);

}  // namespace zellige::reference
