// Jacobi's iteration with a barrier of the grid, and sums by tiles of cooperative groups. Faults: 1 no barrier of the grid, 2 an
// ordinary launch, 3 a tile's collective that half of the tile skips.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

__global__ void jacobi(float* a, float* b, int n, int steps, int fault) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (unsigned i = grid.thread_rank() + 1; i + 1 < n; i += grid.size()) b[i] = (a[i - 1] + a[i + 1]) / 2;
    if (fault != 1) grid.sync();
    float* t = a;
    a = b;
    b = t;
  }
}

__global__ void tile_sums(const int* x, int* sums, int fault) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int v = x[block.thread_rank()];
  if (fault == 3 && tile.thread_rank() >= 8) return;
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  const int all = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = v + all;
  block.sync();
  if (x[block.thread_rank()] % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(&sums[tile.meta_group_size()], int(active.size()));
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  int n = 258, steps = 4;
  std::vector<float> a(n);
  a[0] = a[n - 1] = 1;
  float *d_a, *d_b;
  cudaMalloc(&d_a, n * sizeof(float));
  cudaMalloc(&d_b, n * sizeof(float));
  cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  int per_sm = 0;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, jacobi, 64, 0);
  const int blocks = per_sm * device.multiProcessorCount < 4 ? 1 : 4;
  int injected = fault;
  void* arguments[] = {&d_a, &d_b, &n, &steps, &injected};
  if (fault == 2)
    jacobi<<<blocks, 64>>>(d_a, d_b, n, steps, fault);
  else
    cudaLaunchCooperativeKernel((void*)jacobi, dim3(blocks), dim3(64), arguments, 0, 0);
  cudaMemcpy(a.data(), d_a, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (!fault && a[1] != 0.625f) return printf("wrong: %g\n", a[1]), 1;

  int x[64], sums[5] = {}, *d_x, *d_sums, multiples = 0;
  for (int i = 0; i < 64; ++i) x[i] = i, multiples += i % 3 == 0;
  cudaMallocManaged(&d_x, sizeof x);
  for (int i = 0; i < 64; ++i) d_x[i] = x[i];
  cudaMalloc(&d_sums, sizeof sums);
  cudaMemcpy(d_sums, sums, sizeof sums, cudaMemcpyHostToDevice);
  tile_sums<<<1, 64>>>(d_x, d_sums, fault);
  cudaDeviceSynchronize();
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  if (!fault && (sums[0] != 240 || sums[4] != multiples)) return printf("wrong: %d %d\n", sums[0], sums[4]), 1;
  printf("right\n");
}
