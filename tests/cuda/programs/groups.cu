// Cooperative groups, and libcu++: atomics, barriers, pipelines, semaphores, the host's containers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/span>
namespace cg = cooperative_groups;
__device__ int failed;
#define EXPECT(c)                    \
  do {                               \
    if (!(c)) {                      \
      printf("line %d\n", __LINE__); \
      atomicAdd(&failed, 1);         \
    }                                \
  } while (0)
__global__ void tiles() {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  EXPECT(tile.size() == 16 && tile.meta_group_size() == block.size() / 16 &&
         tile.meta_group_rank() == block.thread_rank() / 16);
  EXPECT(cg::reduce(tile, 1, cg::plus<int>()) == 16);
  EXPECT(cg::inclusive_scan(tile, 1, cg::plus<int>()) == (int)tile.thread_rank() + 1);
  EXPECT(cg::exclusive_scan(tile, 1) == (int)tile.thread_rank());
  EXPECT(tile.any(tile.thread_rank() == 3) && tile.shfl(tile.thread_rank(), 2) == 2 && tile.match_any(1) == 0xffff);
  int same = 0;
  EXPECT(tile.match_all(5, same) == 0xffffu && same);
  auto inner = cg::tiled_partition<4>(tile);
  EXPECT(inner.meta_group_rank() == tile.thread_rank() / 4 && inner.meta_group_size() == 4);
  if (threadIdx.x % 2) {
    auto active = cg::coalesced_threads();
    EXPECT(active.size() == 16);
    auto labels = cg::labeled_partition(active, (threadIdx.x / 8) % 2);
    EXPECT(labels.size() == 8);
    EXPECT(cg::reduce(active, (int)active.thread_rank(), cg::greater<int>()) == 15);
  }
  block.sync();
  EXPECT(block.group_dim().x == blockDim.x && block.dim_threads().y == 1 && block.num_threads() == blockDim.x);
  cg::thread_group g = block;
  EXPECT(g.size() == blockDim.x);
  if (cg::invoke_one_broadcast(tile, [] { return 7; }) != 7) EXPECT(false);
}
__global__ void grid_wide(int* p) {
  auto grid = cg::this_grid();
  p[grid.thread_rank()] = (int)grid.thread_rank();
  grid.sync();
  EXPECT(p[grid.size() - 1 - grid.thread_rank()] == (int)(grid.size() - 1 - grid.thread_rank()));
  EXPECT(grid.is_valid() && grid.num_blocks() == gridDim.x && grid.block_rank() == blockIdx.x &&
         grid.block_index().x == blockIdx.x && grid.dim_blocks().x == gridDim.x);
}
__global__ void barriers(int* out, cuda::atomic<int, cuda::thread_scope_device>* total) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier bar;
  __shared__ int x[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  x[threadIdx.x] = threadIdx.x;
  barrier::arrival_token token = bar.arrive();
  bar.wait(std::move(token));
  out[threadIdx.x] = x[63 - threadIdx.x];
  bar.arrive_and_wait();
  total->fetch_add(1, cuda::std::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> r(out[0]);
  r.fetch_add(1);
  __shared__ cuda::std::array<int, 4> a;
  if (threadIdx.x < 4) a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  EXPECT(a[3] == 3);
}
template <int Stages>
__global__ void staged(const int* in, int* out, int n) {
  extern __shared__ int smem[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int batches = n / blockDim.x, fetch = 0;
  for (int b = 0; b < batches; ++b) {
    for (; fetch < batches && fetch < b + Stages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, smem + (fetch % Stages) * blockDim.x, in + fetch * blockDim.x,
                         cuda::aligned_size_t<4>(sizeof(int) * blockDim.x), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[b * blockDim.x + threadIdx.x] = smem[(b % Stages) * blockDim.x + threadIdx.x] * 2;
    pipe.consumer_release();
  }
}
__global__ void cg_copy(const int4* in, int4* out) {
  __shared__ int4 s[32];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(int4) * 32);
  cg::wait(block);
  out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void locks(int* p, cuda::binary_semaphore<cuda::thread_scope_device>* s) {
  if (threadIdx.x == 0) {
    s->acquire();
    p[0] = p[0] + 1;
    s->release();
  }
}
int main() {
  tiles<<<1, 32>>>();
  int *p, *q, bad = 0;
  cudaMallocManaged(&p, 4096), cudaMallocManaged(&q, 4096);
  void* args[] = {&p};
  cudaLaunchCooperativeKernel((void*)grid_wide, dim3(2), dim3(32), args, 0, 0);
  cuda::atomic<int, cuda::thread_scope_device>* total;
  cudaMallocManaged(&total, sizeof(*total));
  new (total) cuda::atomic<int, cuda::thread_scope_device>(0);
  barriers<<<1, 64>>>(q, total);
  cudaDeviceSynchronize();
  for (int i = 0; i < 256; ++i) p[i] = i;
  staged<2><<<1, 32, 2 * 32 * sizeof(int)>>>(p, q, 256);
  cg_copy<<<1, 32>>>((int4*)p, (int4*)q);
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&bad, failed, 4);
  cuda::binary_semaphore<cuda::thread_scope_device>* lock;
  cudaMallocManaged(&lock, sizeof(*lock));
  new (lock) cuda::binary_semaphore<cuda::thread_scope_device>(1);
  p[0] = 0;
  locks<<<4, 32>>>(p, lock);
  cudaDeviceSynchronize();
  printf("%s\n", bad == 0 && q[0] == 124 && total->load() == 64 && p[0] == 4 ? "right" : "wrong");
}
