// Calls the machine's BLAS (OpenBLAS) for the matmuls of the float64 reference. It is two to three times as
// fast as the built-in loop (gemm.cpp).
//
// The library is loaded at run time, so that one binary runs with and without it. It is the one that $ZELLIGE_BLAS names, or
// libopenblas.so.0; "none" is none. A library is used only if it multiplies integer matrices exactly, because some versions compute
// wrong results on processors that are newer than the library.
#pragma once
#include <cstdint>
#include <string>

namespace zellige::reference {

/// Returns whether there is such a library. Throws Error if the one that $ZELLIGE_BLAS names cannot be loaded.
bool has_blas();

/// Computes C = A B in float64, with row-major matrices, on the calling thread, by the library, which has_blas() says is there. `lda`,
/// `ldb` and `ldc` are row strides in elements. Thread-safe; if the library is built single-threaded, concurrent calls are serialized.
/// The summation order is unspecified.
void blas_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
               std::int64_t ldb, double* c, std::int64_t ldc);

/// Returns the library's version, such as "OpenBLAS 0.3.21 ... SkylakeX", or the reason why no BLAS is used,
/// such as "no BLAS: libopenblas.so.0: cannot open ...".
std::string describe_blas();

}  // namespace zellige::reference
