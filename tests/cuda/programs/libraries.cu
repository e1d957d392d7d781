// What programs take from CUDA's smaller headers: numbers of 8 bits, random numbers, textures of linear memory, functions of halves, parts
// of groups, a lerp of their own.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <curand.h>
#include <curand_kernel.h>
#include <math.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

struct float3;  // CUDA's vectors are structs
__host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }

__device__ int sum_of(cg::thread_group g, int* scratch, int value) {
  const int at = g.thread_rank();
  for (int half = g.size() / 2; half > 0; half /= 2) {
    scratch[at] = value;
    g.sync();
    if (at < half) value += scratch[at + half];
    g.sync();
  }
  return value;
}
__global__ void groups(int* out) {
  __shared__ int scratch[64];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto odd = cg::binary_partition(warp, threadIdx.x % 2);
  const auto third = cg::labeled_partition(warp, threadIdx.x % 3);
  const int before = cg::exclusive_scan(warp, 1), upto = cg::inclusive_scan(warp, 2);
  const int sum = sum_of(block, scratch, 1);
  const bool right = odd.size() == 16 && third.size() == (threadIdx.x % 3 < 2 ? 11 : 10) &&
                     before == threadIdx.x % 32 && upto == 2 * (threadIdx.x % 32 + 1);
  out[threadIdx.x] = (threadIdx.x >= 32 || right) && (threadIdx.x > 0 || sum == 64);
}
__global__ void numbers(const __nv_fp8_e4m3* in, cudaTextureObject_t texture, float* out, unsigned seed) {
  const int i = threadIdx.x;
  curandState state;
  curand_init(seed, i, 0, &state);
  const float u = curand_uniform(&state);
  const __half2 pair = __hadd2(h2exp2(__floats2half2_rn(1, 2)), __half2half2(hsqrt(__float2half(9))));
  const bool right = u > 0 && u <= 1 && __low2float(pair) == 5 && __high2float(pair) == 7 && isfinite(u) &&
                     tex1Dfetch<float>(texture, i) == 3 * i && lerp(1, 3, 0.5f) == 2;
  out[i] = right ? float(in[i]) : -1;
}

int main() {
  int *d_flags, flags[64];
  cudaMalloc(&d_flags, sizeof(flags));
  groups<<<1, 64>>>(d_flags);
  cudaMemcpy(flags, d_flags, sizeof(flags), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int f : flags) right &= f != 0;

  std::vector<__nv_fp8_e4m3> in(32);
  std::vector<float> linear(32), out(32);
  for (int i = 0; i < 32; ++i) in[i] = __nv_fp8_e4m3(i % 16 * 0.25f), linear[i] = 3 * i;
  __nv_fp8_e4m3* d_in;
  float *d_linear, *d_out;
  cudaMalloc(&d_in, 32);
  cudaMalloc(&d_linear, 128);
  cudaMalloc(&d_out, 128);
  cudaMemcpy(d_in, in.data(), 32, cudaMemcpyHostToDevice);
  cudaMemcpy(d_linear, linear.data(), 128, cudaMemcpyHostToDevice);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = d_linear;
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  memory.res.linear.sizeInBytes = 128;
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &memory, &how, nullptr);
  numbers<<<1, 32>>>(d_in, texture, d_out, 7);
  cudaMemcpy(out.data(), d_out, 128, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) right &= out[i] == i % 16 * 0.25f;

  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetPseudoRandomGeneratorSeed(generator, 1);
  std::vector<float> many(4096);
  float *d_many, mean = 0;
  cudaMalloc(&d_many, many.size() * 4);
  curandGenerateUniform(generator, d_many, many.size());
  cudaMemcpy(many.data(), d_many, many.size() * 4, cudaMemcpyDeviceToHost);
  for (float x : many) mean += x / many.size();
  right &= std::fabs(mean - 0.5f) < 0.02f;
  std::puts(right ? "right" : "wrong");
}
