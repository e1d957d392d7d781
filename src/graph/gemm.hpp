// C = A B on row-major float64 matrices, at the speed of the machine's vector units.
#pragma once
#include <cstdint>

namespace zellige::graph {

/// Writes the m x n matrix c; rows are lda, ldb and ldc elements apart. Each element is summed in order of k.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double* c, std::int64_t ldc);

}  // namespace zellige::graph
