// Measures instruction latencies in cycles: chains of instructions, each dependent on the previous one, timed
// by the SM's clock on an idle GPU. Prints include/zellige/atom/latency.hpp:
//
//   nvcc -std=c++20 -O2 -I include -I tests/atom -diag-suppress 177 -gencode arch=compute_90a,code=sm_90a bench/latency.cu -o latency
//   ./latency > latency.hpp && mv latency.hpp include/zellige/atom/
//
// Warp MMAs: d of one is c of the next. Warpgroup MMAs: one, its commit and its wait. ldmatrix: the next
// address comes from its registers. cp.async: of bytes in the L2 or, if it keeps them, the L1, with commit
// and wait.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <zellige/atom.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/wgmma.hpp>

#include "warp_rows.hpp"

namespace zellige {
namespace {

constexpr int chain = 256;

/// Cycles per instruction of the chain: the minimum of several runs, the first of which warms the caches.
template <class Kernel>
void measure(const std::string& name, Kernel kernel, unsigned threads) {
  static long long* cycles = nullptr;
  static unsigned char* memory = nullptr;
  if (!cycles)
    cudaMallocManaged(&cycles, sizeof(long long)), cudaMalloc(&memory, 1 << 16), cudaMemset(memory, 0, 1 << 16);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  long long minimum = -1;
  for (int run = 0; run < 5; ++run) {
    kernel<<<1, threads, 65536>>>(cycles, memory);
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), cudaGetErrorString(error));
      std::exit(1);
    }
    if (minimum < 0 || *cycles < minimum) minimum = *cycles;
  }
  std::printf("    {\"%s\", %lld},\n", name.c_str(), (minimum + chain / 2) / chain);
}

template <class Op>
__global__ void products(long long* cycles, unsigned char* memory) {
  typename Op::DRegisters d{};
  typename Op::ARegisters a{};
  typename Op::BRegisters b{};
  const long long start = clock64();
#pragma unroll 16
  for (int i = 0; i < chain; ++i) mma<Op>(d, a, b);
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
  for (auto x : d)
    if (x != 0) memory[threadIdx.x] = 1;
}

template <int Matrices, bool Transposed>
__global__ void rows(long long* cycles, unsigned char* memory) {
  const auto tile = shared<uint32_t>("tile", 0, 1024);
  for (unsigned i = threadIdx.x; i < 1024; i += 32) tile[i] = 0;
  __syncwarp();
  const auto mine = tile + threadIdx.x % (8 * Matrices) * 4;
  uint32_t r[Matrices] = {};
  const long long start = clock64();
#pragma unroll 16
  for (int i = 0; i < chain; ++i) {
    const auto row = mine + r[0];
    if constexpr (Matrices == 1) Transposed ? ldmatrix_x1_trans(r, row) : ldmatrix_x1(r, row);
    if constexpr (Matrices == 2) Transposed ? ldmatrix_x2_trans(r, row) : ldmatrix_x2(r, row);
    if constexpr (Matrices == 4) Transposed ? ldmatrix_x4_trans(r, row) : ldmatrix_x4(r, row);
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
  if (r[0] != 0) memory[threadIdx.x] = 1;
}

template <int Bytes>
__global__ void copies(long long* cycles, unsigned char* memory) {
  const auto tile = shared<unsigned char>("tile", 0, 32 * Bytes);
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < chain; ++i) {
    cp_async<Bytes>(tile + threadIdx.x * Bytes, memory + threadIdx.x * Bytes);
    cp_async_commit();
    cp_async_wait<0>();
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
}

template <class T, int N>
__global__ void __launch_bounds__(128) warpgroups(long long* cycles, unsigned char* memory) {
  const auto tile = shared<uint32_t>("tile", 0, 16384);
  for (unsigned i = threadIdx.x; i < 16384; i += 128) tile[i] = 0;
  fence_proxy_async_shared();
  __syncthreads();
  const uint64_t a = smem_descriptor(tile, 16, 1024, SwizzleMode::b128),
                 b = smem_descriptor(tile + 2048, 16, 1024, SwizzleMode::b128);
  float d[N / 2] = {};
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < chain; ++i) {
    wgmma_fence_operand(d);
    wgmma_fence();
    wgmma<T>(d, a, b);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_fence_operand(d);
  }
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
  for (float x : d)
    if (x != 0) memory[threadIdx.x] = 1;
}
template <class T, int N = 8>
void all_n(const std::string& types) {
  measure("SM90::GMMA::MMA_64x" + std::to_string(N) + "x16_" + types + "_SS", warpgroups<T, N>, 128);
  if constexpr (N < 256) all_n<T, N + 8>(types);
}

}  // namespace
}  // namespace zellige

int main() {
  using namespace zellige;
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return std::fprintf(stderr, "no GPU\n"), 1;
  std::printf(
      "// Lists measured latencies of instructions, in cycles from the issue of an instruction until another "
      "instruction may\n"
      "// use its result. bench/latency.cu measured them on an idle %s and printed this file. Instructions "
      "that are\n"
      "// not listed were not measured.\n"
      "#pragma once\n\n#include <array>\n\nnamespace zellige {\n\n"
      "struct MeasuredLatency {\n  const char* name;\n  int cycles;\n};\n\n"
      "// clang-format off\ninline constexpr auto measured_latencies = std::to_array<MeasuredLatency>({\n",
      device.name);
#define ZELLIGE_MEASURE(op) measure(#op, products<op>, 32);
  ZELLIGE_MEASURE(SM80_16x8x16_F32F16F16F32_TN)
  ZELLIGE_MEASURE(SM80_16x8x16_F16F16F16F16_TN)
  ZELLIGE_MEASURE(SM80_16x8x16_F32BF16BF16F32_TN)
  ZELLIGE_MEASURE(SM80_16x8x8_F32F16F16F32_TN)
  ZELLIGE_MEASURE(SM80_16x8x8_F16F16F16F16_TN)
  ZELLIGE_MEASURE(SM80_16x8x8_F32BF16BF16F32_TN)
  ZELLIGE_MEASURE(SM80_16x8x8_F32TF32TF32F32_TN)
  ZELLIGE_MEASURE(SM80_16x8x4_F32TF32TF32F32_TN)
  ZELLIGE_WARP_ROWS(ZELLIGE_MEASURE)
#undef ZELLIGE_MEASURE
  measure("SM75_U32x1_LDSM_N", rows<1, false>, 32);
  measure("SM75_U32x2_LDSM_N", rows<2, false>, 32);
  measure("SM75_U32x4_LDSM_N", rows<4, false>, 32);
  measure("SM75_U16x2_LDSM_T", rows<1, true>, 32);
  measure("SM75_U16x4_LDSM_T", rows<2, true>, 32);
  measure("SM75_U16x8_LDSM_T", rows<4, true>, 32);
  measure("SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", copies<4>, 32);
  measure("SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", copies<8>, 32);
  measure("SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", copies<16>, 32);
  all_n<half_t>("F32F16F16");
  all_n<bfloat16_t>("F32BF16BF16");
  std::printf("});\n// clang-format on\n\n}  // namespace zellige\n");
}
