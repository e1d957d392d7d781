// A histogram whose bins lie in the shared memory of a cluster's blocks. Faults: 1 other blocks' bins are counted before
// they are zero, 2 a block ends while others count in its bins, 3 a rank beyond the cluster, 4 a count without an atomic,
// 5 a grid that is no multiple of the cluster, 6 bins beyond those of a block.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;
constexpr int BINS = 64;  // of each block

__global__ void histogram(int* bins, const int* x, int n, int fault) {
  extern __shared__ int smem[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) smem[i] = 0;
  if (fault != 1) cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = x[i], rank = bin / BINS + (fault == 3 ? 1 : 0);
    int* const there = cluster.map_shared_rank(smem, rank);
    if (fault == 4)
      there[bin % BINS] += 1;
    else
      atomicAdd(there + bin % BINS + (fault == 6 ? BINS : 0), 1);
  }
  if (fault != 2) cluster.sync();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&bins[cluster.block_rank() * BINS + i], smem[i]);
}

// Swaps the numbers of two blocks, by a cluster of a fixed size and inline PTX.
__global__ void __cluster_dims__(2, 1, 1) swap_blocks(const int* x, int* y) {
  __shared__ int s[32];
  unsigned rank, there;
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]))), "r"(rank ^ 1));
  int v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there));
  y[blockIdx.x * 32 + threadIdx.x] = v;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 1000, size = 2;
  std::vector<int> x(n), bins(size * BINS);
  for (int i = 0; i < n; ++i) x[i] = (i * i * 31 + i * 7) % (size * BINS);
  int *d_x, *d_bins;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_bins, bins.size() * sizeof(int));
  cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, bins.size() * sizeof(int));
  cudaLaunchConfig_t config = {0};
  config.gridDim = fault == 5 ? 3 : 4;
  config.blockDim = 64;
  config.dynamicSmemBytes = BINS * sizeof(int);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = size;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.numAttrs = 1;
  config.attrs = attribute;
  cudaLaunchKernelEx(&config, histogram, d_bins, d_x, n, fault);
  cudaMemcpy(bins.data(), d_bins, bins.size() * sizeof(int), cudaMemcpyDeviceToHost);
  std::vector<int> expected(bins.size()), swapped(64);
  for (const int v : x) ++expected[v];
  swap_blocks<<<2, 32>>>(d_x, d_bins);
  cudaMemcpy(swapped.data(), d_bins, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  bool right = bins == expected;
  for (int i = 0; i < 64; ++i) right = right && swapped[i] == x[i ^ 32];
  puts(right ? "right" : "wrong");
}
