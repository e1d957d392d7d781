// The GEMM of ../hopper.cu, run on a GPU and compared exactly with a simple one.
//
//   nvcc -std=c++20 -I compat -I include -gencode arch=compute_90a,code=sm_90a check_pipeline.cu
#include <vector>

#include "../hopper.cu"

namespace {

int wrong_runs = 0;

void check(int m, int n, int k) {
  unsigned seed = 1;
  auto const next = [&] { return seed = seed * 1664525u + 1013904223u, int(seed >> 16); };
  std::vector<half_t> a(size_t(m) * k), b(size_t(n) * k), c(size_t(m) * n);
  for (half_t& x : a) x = half_t(float(next() % 3 - 1));
  for (half_t& x : b) x = half_t(float(next() % 3 - 1));
  half_t *da, *db, *dc;
  CUTE_CHECK_ERROR(cudaMalloc(&da, a.size() * 2));
  CUTE_CHECK_ERROR(cudaMalloc(&db, b.size() * 2));
  CUTE_CHECK_ERROR(cudaMalloc(&dc, c.size() * 2));
  CUTE_CHECK_ERROR(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
  CUTE_CHECK_ERROR(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
  CUTE_CHECK_ERROR(cudaMemset(dc, 0xff, c.size() * 2));
  bool wrong = launch(da, db, dc, m, n, k) != cutlass::Status::kSuccess;
  CUTE_CHECK_ERROR(cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost));
  size_t differ = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += float(a[size_t(i) * k + p]) * float(b[size_t(j) * k + p]);
      differ += !(float(c[size_t(i) * n + j]) == sum);
    }
  }
  wrong = wrong || differ != 0;
  std::printf("%s pipeline %dx%dx%d: %zu of %zu elements wrong\n", wrong ? "WRONG" : "right", m, n, k, differ,
              c.size());
  wrong_runs += wrong;
  cudaFree(da), cudaFree(db), cudaFree(dc);
}

}  // namespace

int main() {
  check(256, 64, 64);
  check(512, 320, 512);
  check(768, 128, 448);
  if (launch_nothing() != cutlass::Status::kSuccess) ++wrong_runs, std::printf("WRONG kernel_launch\n");
  CUTE_CHECK_LAST();
  return wrong_runs != 0;
}
