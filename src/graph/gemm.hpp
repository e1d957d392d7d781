// C = A B on row-major float64 matrices, at the speed of the machine's vector units: on a BLAS where there is one (blas.hpp),
// but for small products.
#pragma once
#include <cstdint>

namespace zellige::graph {

/// Writes the m x n matrix c; rows are lda, ldb and ldc elements apart. Each element is a sum in float64, in whatever order: off
/// by at most k 2^-53 of the sum of its terms' magnitudes. The same call gives the same bits, in any number of threads.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc);

/// The same by our own loop, which sums in order of k.
void own_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
              const double* b, std::int64_t ldb, double* c, std::int64_t ldc);

}  // namespace zellige::graph
