// A BLAS that omits the last term of every sum, for gemm_test.cpp.
extern "C" void cblas_dgemm(int, int, int, int m, int n, int k, double, const double* a, int lda, const double* b,
                            int ldb, double, double* c, int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      c[i * ldc + j] = 0;
      for (int p = 0; p < k - 1; ++p) c[i * ldc + j] += a[i * lda + p] * b[p * ldb + j];
    }
}
