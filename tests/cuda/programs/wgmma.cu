// C = A B^T in f16 by TMA, mbarriers and WGMMA: a warpgroup copies, another one multiplies. Faults: 1 no fence after the
// mbarriers are made, 2 half of the bytes expected, 3 no wgmma.fence, 4 the accumulators are read before wgmma.wait_group,
// 5 a stage is released before its wgmma is done, 6 the producer does not wait for a stage, 7 a descriptor without the
// swizzle, 8 nobody releases a stage, 9 the consumer waits for the wrong phase.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 2;

struct Storage {
  alignas(1024) half A[STAGES][BM * BK];
  alignas(1024) half B[STAGES][BN * BK];
  uint64_t full[STAGES], empty[STAGES];
};

__device__ static inline uint32_t smem(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ static inline uint64_t encode(uint64_t x) { return (x & 0x3FFFF) >> 4; }
__device__ uint64_t make_descriptor(half* p, bool swizzled) {
  uint64_t d = 0;
  d |= encode(smem(p));
  d |= encode(16) << 16;
  d |= encode(1024) << 32;
  if (swizzled) d |= 1llu << 62;  // 128 bytes
  return d;
}

__device__ void init_barrier(uint64_t* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(smem(bar)), "r"(count));
}
__device__ void expect_bytes(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;\n" ::"r"(smem(bar)), "r"(bytes));
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 1;\n" ::"r"(smem(bar)) : "memory");
}
__device__ void wait(uint64_t* bar, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred                P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1                       bra.uni DONE;\n"
      "bra.uni                   LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(smem(bar)),
      "r"(parity));
}
__device__ void load(half* to, const CUtensorMap* map, uint64_t* bar, int k, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(smem(to)),
      "l"(reinterpret_cast<uint64_t>(map)), "r"(smem(bar)), "r"(k), "r"(row)
      : "memory");
}

template <int ScaleD>
__device__ void wgmma64(float d[4][8], half* sA, half* sB, bool swizzled) {
  uint64_t desc_a = make_descriptor(sA, swizzled), desc_b = make_descriptor(sB, true);
  asm volatile(
      "{\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,   %1,   %2,   %3,   %4,   %5,   %6,   %7,   "
      " %8,   %9,   %10,  %11,  %12,  %13,  %14,  %15,  "
      " %16,  %17,  %18,  %19,  %20,  %21,  %22,  %23,  "
      " %24,  %25,  %26,  %27,  %28,  %29,  %30,  %31},"
      " %32,"
      " %33,"
      " %34, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[0][4]), "+f"(d[0][5]), "+f"(d[0][6]),
        "+f"(d[0][7]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[1][4]), "+f"(d[1][5]),
        "+f"(d[1][6]), "+f"(d[1][7]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[2][4]),
        "+f"(d[2][5]), "+f"(d[2][6]), "+f"(d[2][7]), "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]),
        "+f"(d[3][4]), "+f"(d[3][5]), "+f"(d[3][6]), "+f"(d[3][7])
      : "l"(desc_a), "l"(desc_b), "n"(int32_t(ScaleD)));
}

__global__ void __launch_bounds__(256) matmul(int M, int N, int K, float* C, const __grid_constant__ CUtensorMap mapA,
                                              const __grid_constant__ CUtensorMap mapB, int fault) {
  extern __shared__ __align__(1024) uint8_t raw[];
  Storage& s = *reinterpret_cast<Storage*>(raw);
  const int row = blockIdx.y * BM, column = blockIdx.x * BN, group = threadIdx.x / 128, t = threadIdx.x % 128;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) init_barrier(&s.full[i], 1), init_barrier(&s.empty[i], 128);
    if (fault != 1) asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();
  const int tiles = K / BK;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(24));
    if (t == 0)
      for (int i = 0; i < tiles; ++i) {
        const int stage = i % STAGES;
        if (fault != 6) wait(&s.empty[stage], (i / STAGES & 1) ^ 1);
        expect_bytes(&s.full[stage], (BM + BN) * BK * sizeof(half) / (fault == 2 ? 2 : 1));
        load(s.A[stage], &mapA, &s.full[stage], i * BK, row);
        load(s.B[stage], &mapB, &s.full[stage], i * BK, column);
      }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(240));
    float d[4][8] = {};
    for (int i = 0; i < tiles; ++i) {
      const int stage = i % STAGES;
      wait(&s.full[stage], (i / STAGES & 1) ^ (fault == 9));
      if (fault != 3) asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
      for (int k = 0; k < BK; k += 16) wgmma64<1>(d, &s.A[stage][k], &s.B[stage][k], fault != 7);
      asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
      if (fault == 5) arrive(&s.empty[stage]);
      if (fault != 4 || i + 1 < tiles) asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(0) : "memory");
      if (fault != 5 && fault != 8) arrive(&s.empty[stage]);
    }
    const int r = row + t / 32 * 16 + t % 32 / 4, c = column + 2 * (t % 4);
    for (int w = 0; w < 4; ++w)
      for (int h = 0; h < 2; ++h)
        for (int v = 0; v < 2; ++v) {
          C[(r + 8 * v) * N + c + 16 * w + 8 * h] = d[w][4 * h + 2 * v];
          C[(r + 8 * v) * N + c + 16 * w + 8 * h + 1] = d[w][4 * h + 2 * v + 1];
        }
  }
}

CUtensorMap map_of(half* p, int rows, int columns) {
  CUtensorMap map;
  cuuint64_t extents[5] = {cuuint64_t(columns), cuuint64_t(rows), 1, 1, 1};
  cuuint64_t strides[5] = {sizeof(half) * columns, 0, 0, 0, 0};
  cuuint32_t box[5] = {BK, 64, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUresult result = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, extents, strides, box, steps,
                                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  assert(result == CUDA_SUCCESS);
  return map;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, M = 64, N = 128, K = 256;
  std::vector<half> a(M * K), b(N * K);
  std::vector<float> c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = float((i * 7 + i / K) % 13 - 6);
  for (int i = 0; i < N * K; ++i) b[i] = float((i * 5 + i / K) % 11 - 5);
  half *d_a, *d_b;
  float* d_c;
  cudaMalloc(&d_a, M * K * sizeof(half));
  cudaMalloc(&d_b, N * K * sizeof(half));
  cudaMalloc(&d_c, M * N * sizeof(float));
  cudaMemcpy(d_a, a.data(), M * K * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), N * K * sizeof(half), cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Storage));
  matmul<<<dim3(N / BN, M / BM), 256, sizeof(Storage)>>>(M, N, K, d_c, map_of(d_a, M, K), map_of(d_b, N, K), fault);
  cudaMemcpy(c.data(), d_c, M * N * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += float(a[i * K + k]) * float(b[j * K + k]);
      right = right && c[i * N + j] == sum;
    }
  puts(right ? "right" : "wrong");
}
