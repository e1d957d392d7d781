// Conversions, roundings, bits, numbers of 16 bits, parts of words: each result is compared with one that the host computes.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

__device__ int failed;
__device__ void expect(bool right, int line) {
  if (right) return;
  printf("line %d is wrong\n", line);
  atomicAdd(&failed, 1);
}
#define EXPECT(condition) expect(condition, __LINE__)

__global__ void conversions(float x, double y, float big) {
  EXPECT(__float2int_rn(2.5f * x) == 2 && __float2int_rz(-2.7f * x) == -2 && __float2int_ru(2.1f * x) == 3);
  EXPECT(__float2int_rd(-2.1f * x) == -3 && __float2uint_rz(-1.0f * x) == 0 && __float2int_rz(big) == 2147483647);
  EXPECT(__double2int_rn(3.5 * y) == 4 && __double2ll_rz(-1e10 * y) == -10000000000ll &&
         __double2uint_ru(1.5 * y) == 2u);
  EXPECT(__int2float_rz(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f);
  EXPECT(__ll2double_rn(1ll << 40) == 1099511627776.0 && __ull2float_rn(3ull) == 3.0f && __uint2double_rn(7u) == 7.0);
  EXPECT(__fadd_rz(1.0f * x, 0x1p-24f) == 1.0f && __fadd_ru(1.0f * x, 0x1p-24f) > 1.0f &&
         __fmul_rd(0.1f * x, 0.1f) <= 0.01f);
  EXPECT(__fdiv_ru(1.0f * x, 3.0f) > __fdiv_rd(1.0f * x, 3.0f) && __fsqrt_ru(2.0f * x) > __fsqrt_rd(2.0f * x));
  EXPECT(__dadd_rz(1.0 * y, 0x1p-54) == 1.0 && __dmul_ru(0.1 * y, 3.0) > __dmul_rd(0.1 * y, 3.0));
  EXPECT(__double2float_ru(0.1 * y) > __double2float_rd(0.1 * y));
  EXPECT(__hiloint2double(__double2hiint(y), __double2loint(y)) == y);
  EXPECT(fabs(erfinv(erf(0.3 * y)) - 0.3) < 1e-12 && fabsf(normcdfinvf(0.975f * x) - 1.959964f) < 1e-4f);
  EXPECT(fabsf(rnorm3df(3 * x, 4, 0) - 0.2f) < 1e-6f && fabs(sinpi(0.5 * y) - 1) < 1e-12);
}

__global__ void words(unsigned a) {
  EXPECT(__byte_perm(0x33221100u + a, 0x77665544u, 0x7531) == 0x77553311u);
  EXPECT(__byte_perm(0x33221180u + a, 0, 0x8888) == 0xffffffffu && __brevll(1ull + a) == 1ull << 63);
  EXPECT(__funnelshift_lc(0x80000000u + a, 1, 1) == 3u && __funnelshift_rc(a, 1, 40) == 1u);
  EXPECT(__fns(0xb0u + a, 0, 2) == 5u && __fns(1u + a, 4, 1) == ~0u && __sad(-3, 4, 1u + a) == 8u &&
         __usad(3u, 9u, a) == 6u);
  EXPECT(__vadd4(0x01ff7f80u + a, 0x01010101u) == 0x02008081u &&
         __vaddus4(0x01ff7f80u + a, 0x01010101u) == 0x02ff8081u);
  EXPECT(__vaddss4(0x01ff7f80u + a, 0x01010101u) == 0x02007f81u &&
         __vsub2(0x00010000u + a, 0x00020001u) == 0xffffffffu);
  EXPECT(__vabsdiffu4(0x01020304u + a, 0x04030201u) == 0x03010103u && __vsadu4(0x01020304u + a, 0x04030201u) == 8u);
  EXPECT(__vcmpgtu4(0x05000500u + a, 0x04040404u) == 0xff00ff00u &&
         __vsetltu4(0x05000500u + a, 0x04040404u) == 0x00010001u);
  EXPECT(__vmaxs2(0xffff0001u + a, 0x00000000u) == 0x00000001u &&
         __vavgu4(0x01030507u + a, 0x01020304u) == 0x01030406u);
  EXPECT(__dp4a(0x01020304, 0x01010101, 5 + int(a)) == 15 && __dp2a_lo(0x00020003, 0x00000504, int(a)) == 22);
  EXPECT(__viaddmax_s32(3, 4, 5 + int(a)) == 7 && __vimax3_s32(1, 9, 4 + int(a)) == 9 &&
         __vimin_s32_relu(-5, 3 + int(a)) == 0);
  EXPECT(__uhadd(3u, 6u + a) == 4u && __rhadd(3, 6 + int(a)) == 5 && __hadd(-3, -6 + int(a)) == -5);
}

__global__ void halves(float x) {
  const __half h = __float2half(1.5f * x);
  const __half2 p = __halves2half2(h, __float2half(-2.0f));
  EXPECT(__half2float(__low2half(p)) == 1.5f && __high2float(__lowhigh2highlow(p)) == 1.5f);
  EXPECT(__half2int_rn(h) == 2 && __half2int_rd(h) == 1 && __half2uint_rz(h) == 1u &&
         __half2float(__ushort2half_rn(7)) == 7.0f);
  EXPECT(__half2float(__float2half_rz(2049.5f * x)) == 2048.0f &&
         __half2float(__float2half_ru(2048.5f * x)) == 2050.0f);
  EXPECT(__hbgt2(p, __float2half2_rn(-3.0f)) && !__hbgt2(p, __float2half2_rn(0.0f)));
  EXPECT(__low2float(__hgt2(p, __float2half2_rn(0.0f))) == 1.0f &&
         __high2float(__hgt2(p, __float2half2_rn(0.0f))) == 0.0f);
  EXPECT(__half2float(__hfma_relu(h, __float2half(-1.0f), h)) == 0.0f && __half2float(__hadd_sat(h, h)) == 1.0f);
  EXPECT(__hisinf(__float2half(1e6f * x)) == 1 && __half2float(htrunc(__float2half(-1.7f * x))) == -1.0f);
  EXPECT(__low2float(h2floor(p)) == 1.0f && __high2float(__hmax2(p, __float2half2_rn(0.5f))) == 0.5f);
  const __nv_bfloat16 b = __float2bfloat16(3.0f * x);
  const __nv_bfloat162 q = __halves2bfloat162(b, __int2bfloat16_rn(5));
  EXPECT(__bfloat162float(__high2bfloat16(q)) == 5.0f && __bfloat162int_rz(b) == 3 &&
         __bfloat162float(__hmul(b, b)) == 9.0f);
  EXPECT(__bfloat162float(__float2bfloat16_rz(1.00999f * x)) < 1.01f && __low2float(__hfma2(q, q, q)) == 12.0f);
  half2 sum = make_half2(h, h);
  sum += __float2half2_rn(1.0f);
  EXPECT(__half2float(sum.x) == 2.5f && sum.x > h && -h < h);
  static_assert(cuda::std::is_same<int, int>::value, "the host's traits");
  EXPECT(cuda::std::numeric_limits<int>::max() == 2147483647);
  const cuFloatComplex z = cuCmulf(make_cuFloatComplex(1 * x, 2), make_cuFloatComplex(3, 4));
  EXPECT(cuCrealf(z) == -5.0f && cuCimagf(z) == 10.0f && cuCabs(make_cuDoubleComplex(3, 4)) == 5.0);
}

__global__ void lanes(int* out) {
  const unsigned mask = __activemask();
  int predicate = 0;
  const unsigned same = __match_any_sync(mask, threadIdx.x / 8), all = __match_all_sync(mask, 7, &predicate);
  out[threadIdx.x] = __popc(same) + (predicate && all == ~0u ? 100 : 0) + __reduce_max_sync(mask, (int)threadIdx.x);
}

int main() {
  conversions<<<1, 1>>>(1.0f, 1.0, 1e20f);
  words<<<1, 1>>>(0u);
  halves<<<1, 1>>>(1.0f);
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  lanes<<<1, 32>>>(out);
  int first, all;
  cudaMemcpy(&first, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&all, failed, sizeof(int));
  cudaFree(out);
  printf("%s\n", all == 0 && first == 8 + 100 + 31 ? "right" : "wrong");
  return all != 0;
}
