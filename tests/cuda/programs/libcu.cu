// cuda::barrier, cuda::pipeline and cuda::atomic. Faults: 1 the pipeline's stage is read before consumer_wait, 2 arrive
// without wait, 3 the flag is stored relaxed, 4 the barrier counts a thread too many, 5 no barrier after the group's wait.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;
constexpr int TILE = 128;

__global__ void by_pipeline(const int* x, int* y, int tiles, int fault) {
  constexpr int stages = 2;
  __shared__ alignas(16) int s[stages][TILE];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0, next = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + stages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[next % stages], x + next * TILE, sizeof(int) * TILE, pipe);
      pipe.producer_commit();
    }
    if (fault != 1) pipe.consumer_wait();
    y[i * TILE + threadIdx.x] = s[i % stages][TILE - 1 - threadIdx.x];
    pipe.consumer_release();
  }
}

__global__ void by_barrier(const int* x, int* y, int fault) {
  __shared__ int s[TILE];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + (fault == 4));
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  auto token = bar.arrive();
  if (fault != 2) bar.wait(std::move(token));
  y[threadIdx.x] = s[TILE - 1 - threadIdx.x];
}

__global__ void by_group(const int* x, int* y, int fault) {
  __shared__ int s[TILE];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof(s));
  if (fault == 5)
    __pipeline_wait_prior(0);
  else
    cg::wait(block);
  y[threadIdx.x] = s[TILE - 1 - threadIdx.x];
}

__global__ void by_flag(int* data, int* result, unsigned* flag, int fault) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x == 0) {
    *data = 42;
    ready.store(1, fault == 3 ? cuda::memory_order_relaxed : cuda::memory_order_release);
  } else if (threadIdx.x == 32) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *result = *data;
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, tiles = 5, n = tiles * TILE;
  std::vector<int> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i * 3;
  int *d_x, *d_y;
  unsigned* d_flag;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_y, n * sizeof(int));
  cudaMalloc(&d_flag, sizeof(unsigned));
  cudaMemset(d_flag, 0, sizeof(unsigned));
  bool right = true;
  for (int which = 0; which < 3; ++which) {
    cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    if (which == 0) by_pipeline<<<1, TILE>>>(d_x, d_y, tiles, fault);
    if (which == 1) by_barrier<<<1, TILE>>>(d_x, d_y, fault);
    if (which == 2) by_group<<<1, TILE>>>(d_x, d_y, fault);
    cudaMemcpy(y.data(), d_y, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < (which ? TILE : n); ++i) right = right && y[i] == x[i / TILE * TILE + TILE - 1 - i % TILE];
  }
  by_flag<<<1, 64>>>(d_x, d_y, d_flag, fault);
  cudaMemcpy(y.data(), d_y, sizeof(int), cudaMemcpyDeviceToHost);
  right = right && y[0] == 42;
  puts(right ? "right" : "wrong");
}
