// One of CuTe's GEMM tutorials, unchanged, against a simple GEMM on the GPU: every element,
// exactly.
//
// For NVIDIA/cutlass 7107b05, examples/cute/tutorial: the macro TUTORIAL is the path of a file there, such as
// hopper/wgmma_tma_sm90.cu for sm_90a. Include folders: compat and include.
//
// HALF_NT, HALF_TN, FLOAT_NT, FLOAT_TN: the forms of the tutorial. The operands are small integers,
// so that no accumulator is rounded in either type.
#define main tutorial_main
#include TUTORIAL
#undef main

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

int wrong_runs = 0;

/// a(m, k), b(n, k), c(m, n) with any strides.
template <class T>
__global__ void reference_product(int m, int n, int k, float alpha, T const* a, int am, int ak, T const* b, int bn,
                                  int bk, float beta, T const* c, float* d) {
  int const i = int(blockIdx.x * 32 + threadIdx.x), j = int(blockIdx.y * 8 + threadIdx.y);
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += float(a[i * am + p * ak]) * float(b[j * bn + p * bk]);
  d[i + j * m] = alpha * sum + (beta == 0 ? 0 : beta * float(c[i + j * m]));
}

template <class T>
T* on_device(std::vector<T> const& v) {
  T* p = nullptr;
  CUTE_CHECK_ERROR(cudaMalloc(&p, v.size() * sizeof(T)));
  CUTE_CHECK_ERROR(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T>
void check(char const* type, char trans_a, char trans_b, int m, int n, int k, float alpha, float beta) {
  unsigned seed = unsigned(m * 31 + n * 17 + k);
  auto const next = [&] { return seed = seed * 1664525u + 1013904223u, int(seed >> 16); };
  std::vector<T> a(size_t(m) * k), b(size_t(n) * k), c(size_t(m) * n);
  for (T& x : a) x = T(float(next() % 3 - 1));
  for (T& x : b) x = T(float(next() % 3 - 1));
  for (T& x : c) x = T(beta == 0 ? NAN : float(next() % 8));  // what beta = 0 leaves out must not be read

  T *da = on_device(a), *db = on_device(b), *dc = on_device(c);
  float* expected = nullptr;
  CUTE_CHECK_ERROR(cudaMalloc(&expected, c.size() * sizeof(float)));
  int const lda = trans_a == 'N' ? m : k, ldb = trans_b == 'N' ? k : n;
  reference_product<<<dim3((m + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(
      m, n, k, alpha, da, trans_a == 'N' ? 1 : k, trans_a == 'N' ? m : 1, db, trans_b == 'T' ? 1 : k,
      trans_b == 'T' ? n : 1, beta, dc, expected);
  CUTE_CHECK_LAST();
  std::vector<float> want(c.size());
  CUTE_CHECK_ERROR(cudaMemcpy(want.data(), expected, want.size() * sizeof(float), cudaMemcpyDeviceToHost));

  ::gemm(trans_a, trans_b, m, n, k, T(alpha), da, lda, db, ldb, T(beta), dc, m);
  CUTE_CHECK_LAST();
  CUTE_CHECK_ERROR(cudaMemcpy(c.data(), dc, c.size() * sizeof(T), cudaMemcpyDeviceToHost));

  size_t wrong = 0, first = 0, nonzero = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    nonzero += want[i] != 0;
    if (!(float(c[i]) == want[i]) && wrong++ == 0) first = i;
  }
  std::printf("%s %s %c%c %dx%dx%d alpha %g beta %g: ", wrong || nonzero < c.size() / 2 ? "WRONG" : "right", type,
              trans_a, trans_b, m, n, k, alpha, beta);
  if (wrong)
    std::printf("%zu of %zu elements, first (%zu,%zu): %g for %g\n", wrong, c.size(), first % m, first / m,
                float(c[first]), want[first]);
  else
    std::printf("%zu elements\n", c.size());
  wrong_runs += wrong || nonzero < c.size() / 2;
  cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(expected);
}

template <class T>
void check_sizes(char const* type, char trans_a, char trans_b) {
  check<T>(type, trans_a, trans_b, 512, 512, 512, 1, 0);
  check<T>(type, trans_a, trans_b, 256, 640, 320, 1, 0);
  check<T>(type, trans_a, trans_b, 768, 128, 1024, 2, -1);
}

}  // namespace

int main() {
#if defined(HALF_NT)
  check_sizes<cute::half_t>("half", 'N', 'T');
#endif
#if defined(HALF_TN)
  check_sizes<cute::half_t>("half", 'T', 'N');
#endif
#if defined(FLOAT_NT)
  check_sizes<float>("float", 'N', 'T');
#endif
#if defined(FLOAT_TN)
  check_sizes<float>("float", 'T', 'N');
#endif
  return wrong_runs != 0;
}
