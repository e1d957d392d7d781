// Sums of rows: a warp copies rows by cp.async.bulk through a ring of stages, four warps add them up. Faults: 1 the mbarriers are
// used before a barrier of the block, 2 a consumer arrives twice, 3 the stages are released for one thread less than there
// are, 4 a consumer reads after its release, 5 a copy that is no multiple of 16 bytes, 6 the producer leaves out the last row.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <vector>

using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int STAGES = 3, WIDTH = 256, CONSUMERS = 128;

__global__ void sum_rows(const float* x, float* sums, int rows, int fault) {
  __shared__ alignas(128) float ring[STAGES][WIDTH];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full[STAGES], empty[STAGES];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < STAGES; ++i) {
      init(&full[i], 1);
      init(&empty[i], fault == 3 ? CONSUMERS + 1 : CONSUMERS);
    }
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  if (fault != 1) __syncthreads();
  if (t >= CONSUMERS) {
    if (t == CONSUMERS)
      for (int row = 0; row < rows - (fault == 6); ++row) {
        barrier &f = full[row % STAGES], &e = empty[row % STAGES];
        if (row >= STAGES) e.wait_parity(row / STAGES - 1 & 1);
        const int bytes = WIDTH * sizeof(float) - (fault == 5 ? 4 : 0);
        cuda::device::experimental::cp_async_bulk_global_to_shared(ring[row % STAGES], x + row * WIDTH, bytes, f);
        cuda::device::barrier_arrive_tx(f, 1, bytes);
      }
    return;
  }
  float sum[2] = {};
  for (int row = 0; row < rows; ++row) {
    const int stage = row % STAGES;
    full[stage].wait_parity(row / STAGES & 1);
    if (fault != 4)
      for (int i = 0; i < 2; ++i) sum[i] += ring[stage][2 * t + i];
    (void)empty[stage].arrive();
    if (fault == 4)
      for (int i = 0; i < 2; ++i) sum[i] += ring[stage][2 * t + i];
    if (fault == 2 && t == 5 && row == 1) (void)empty[stage].arrive();
  }
  for (int i = 0; i < 2; ++i) sums[2 * t + i] = sum[i];
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, rows = 10;
  std::vector<float> x(rows * WIDTH), sums(WIDTH);
  for (int i = 0; i < rows * WIDTH; ++i) x[i] = i % 97;
  float *d_x, *d_sums;
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_sums, WIDTH * sizeof(float));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  sum_rows<<<1, CONSUMERS + 32>>>(d_x, d_sums, rows, fault);
  cudaMemcpy(sums.data(), d_sums, WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < WIDTH; ++i) {
    float sum = 0;
    for (int row = 0; row < rows; ++row) sum += x[row * WIDTH + i];
    right = right && sums[i] == sum;
  }
  puts(right ? "right" : "wrong");
}
