// C = A B on row-major float64 matrices at the speed of the vector units: on a BLAS if there is one
// (blas.hpp), except for small matrices.
#pragma once
#include <cstdint>

namespace zellige::graph {

/// Writes the m x n matrix c; lda, ldb and ldc are row strides. Each element is a float64 sum in unspecified
/// order, with an error of at most k 2^-53 times the sum of its terms' magnitudes. Results are bitwise
/// reproducible for any number of threads.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc);

/// The same with our own loop, which sums in order of k.
void own_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
              const double* b, std::int64_t ldb, double* c, std::int64_t ldc);

}  // namespace zellige::graph
