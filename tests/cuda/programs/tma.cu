// A matrix is scaled tile by tile: TMA loads a tile, threads scale it, TMA stores it. Faults: 1 no wait for the load, 2 no
// fence before the store, 3 more bytes expected than come, 4 the mbarrier is not made visible to TMA, 5 a tile of shared
// memory that is not aligned, 6 the tile is used again before the store has read it, 7 no barrier before the store.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 40, columns = 96, tile_rows = 16, tile_columns = 32;

__device__ __forceinline__ uint32_t smem(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void wait_for(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(smem(bar)),
      "r"(parity));
}

__global__ void scale(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, float by,
                      int fault) {
  __shared__ alignas(128) float tile[tile_rows * tile_columns + 4];
  __shared__ uint64_t bar;
  float* const at = tile + (fault == 5 ? 4 : 0);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(&bar)), "r"(1));
    if (fault != 4) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int row = 0, phase = 0; row < rows; row += tile_rows, phase ^= 1) {
    const int column = blockIdx.x * tile_columns;
    if (threadIdx.x == 0) {
      if (fault != 6) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&bar)),
                   "r"(int(sizeof(float) * tile_rows * tile_columns) + (fault == 3 ? 16 : 0))
                   : "memory");
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
              "r"(smem(at)),
          "l"(&in), "r"(smem(&bar)), "r"(column), "r"(row)
          : "memory");
    }
    if (fault != 1) wait_for(&bar, phase);
    for (int i = threadIdx.x; i < tile_rows * tile_columns; i += blockDim.x) at[i] *= by;
    if (fault != 2) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (fault != 7) __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out),
                   "r"(smem(at)), "r"(column), "r"(row)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

CUtensorMap map_of(float* p) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled>(function);
  CUtensorMap map{};
  const cuuint64_t extents[] = {columns, rows}, strides[] = {columns * sizeof(float)};
  const cuuint32_t box[] = {tile_columns, tile_rows}, steps[] = {1, 1};
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    puts("no tensor map");
  return map;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  std::vector<float> x(rows * columns), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 101);
  float *d_x, *d_y;
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_y, x.size() * sizeof(float));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<columns / tile_columns, 128>>>(map_of(d_x), map_of(d_y), 3.0f, fault);
  cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) right = right && y[i] == 3 * x[i];
  puts(right ? "right" : "wrong");
}
