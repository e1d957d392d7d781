// c = a + b. Faults: 1 no comparison with n, 2 a copy of n bytes in place of n floats, 3 the result is used before it is
// copied: the host reads memory of the device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t status = (call);                                                      \
    if (status != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      exit(EXIT_FAILURE);                                                             \
    }                                                                                 \
  } while (0)

template <typename T>
__global__ void __launch_bounds__(256) add(const T* __restrict__ a, const T* __restrict__ b, T* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 1000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  float *d_a, *d_b, *d_c;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc((void**)&d_b, bytes));
  CHECK(cudaMalloc(reinterpret_cast<void**>(&d_c), bytes));
  CHECK(cudaMemcpy(d_a, a.data(), fault == 2 ? n : bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  dim3 block(256), grid((n + block.x - 1) / block.x);
  add<<<grid, block>>>(d_a, d_b, d_c, fault == 1 ? int(grid.x * block.x) : n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  if (fault == 3) printf("%g\n", d_c[1]);
  CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (c[i] != 3 * i) return printf("wrong at %d: %g\n", i, c[i]), fault == 0;
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  printf("right\n");
  return 0;
}
