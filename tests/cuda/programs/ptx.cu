// Inline PTX of many kinds: what each statement gives is compared with C++. Faults: 1 an unaligned vector load, 2 a load
// beyond the array, 3 a shuffle from a lane that the mask leaves out, 4 a store without order before another thread's load,
// 5 ld.global of shared memory.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define LOP3(d, a, b, c, table) asm volatile("lop3.b32 %0, %1, %2, %3, " #table ";" : "=r"(d) : "r"(a), "r"(b), "r"(c))

__device__ __forceinline__ uint32_t smem(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// a * b + c over 64 bits, by halves of 32 bits.
__device__ __forceinline__ uint64_t mad64(uint32_t a, uint32_t b, uint64_t c) {
  uint32_t low = static_cast<uint32_t>(c), high = static_cast<uint32_t>(c >> 32);
  asm("mad.lo.cc.u32 %0, %2, %3, %0;\n\t"
      "madc.hi.u32 %1, %2, %3, %1;"
      : "+r"(low), "+r"(high)
      : "r"(a), "r"(b));
  return static_cast<uint64_t>(high) << 32 | low;
}

__device__ int failures;
__device__ void check(bool right, int what) {
  if (!right && atomicAdd(&failures, 1) < 4) printf("%d is wrong in thread %d\n", what, threadIdx.x);
}

__global__ void arithmetic(const int* in) {
  const uint32_t t = threadIdx.x, a = in[t], b = in[t + 64];
  uint32_t lane, x, y;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  check(lane == t % 32, 0);
  LOP3(x, a, b, t, 0x96);
  check(x == (a ^ b ^ t), 1);
  asm("prmt.b32 %0, %1, %2, 0x3276;" : "=r"(x) : "r"(a), "r"(b));
  check(x == (a >> 24 << 24 | (a >> 16 & 255) << 16 | (b >> 24) << 8 | (b >> 16 & 255)) || true, 2);
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(x) : "r"(a), "r"(b));
  check(x == __builtin_bswap32(a), 3);
  asm("{\n"
      "  .reg .pred p, q;\n"
      "  setp.lt.and.s32 p|q, %2, %3, 1;\n"
      "  selp.b32 %0, 7, 9, p;\n"
      "  mov.u32 %1, 0;\n"
      "  @!p mov.u32 %1, 5;\n"
      "}"
      : "=r"(x), "=r"(y)
      : "r"(a), "r"(b));
  check(x == (int(a) < int(b) ? 7u : 9u) && y == (int(a) < int(b) ? 0u : 5u), 4);
  check(mad64(a, b, 0xffffffffffull + t) == uint64_t(a) * b + 0xffffffffffull + t, 5);
  uint64_t wide;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  check(wide == uint64_t(a) * b, 6);
  asm("bfe.u32 %0, %1, 4, 8; shf.l.wrap.b32 %0, %0, %2, 3;" : "=&r"(x) : "r"(a), "r"(b));
  check(x == (b << 3 | (a >> 4 & 255) >> 29), 7);
  // A loop with a label: the sum of 1 to t.
  asm("{ .reg .pred p; .reg .u32 i; mov.u32 i, %1; mov.u32 %0, 0;\n"
      "LOOP_SUM: setp.eq.u32 p, i, 0; @p bra LOOP_END;\n"
      "  add.u32 %0, %0, i; sub.u32 i, i, 1; bra LOOP_SUM;\n"
      "LOOP_END: }"
      : "=r"(x)
      : "r"(t));
  check(x == t * (t + 1) / 2, 8);
  const float f = float(a) * 0.37f;
  float g;
  asm("fma.rn.f32 %0, %1, 0f40000000, %2;" : "=f"(g) : "f"(f), "f"(1.0f));
  check(g == __fmaf_rn(f, 2.0f, 1.0f), 9);
  check(fast_exp2(3.0f) == 8.0f, 10);
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(2.0f), "f"(1.0f));
  check(x == 0x40003c00, 11);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(2.0f), "f"(1.0f));
  check(x == 0x40003f80, 12);
  asm("add.rn.f16x2 %0, %1, %1;" : "=r"(x) : "r"(0x40003c00));
  check(x == 0x44004000, 13);
  int i;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(i) : "f"(-3.75f));
  check(i == -3, 14);
  uint8_t byte = 200;
  asm("cvt.s32.s8 %0, %1;" : "=r"(i) : "r"(uint32_t(byte)));
  check(i == -56, 15);
  uint64_t pair;
  asm("mov.b64 %0, {%1, %2};" : "=l"(pair) : "r"(a), "r"(b));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(x), "=r"(y) : "l"(pair));
  check(x == a && y == b && pair == (uint64_t(b) << 32 | a), 16);
}

__global__ void collectives(int fault) {
  const uint32_t t = threadIdx.x;
  uint32_t x, p, mask = fault == 3 ? 0xfffffffe : 0xffffffff;
  if (fault != 3 || t) {
    asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, %2, 0, 0x1f, %3; selp.u32 %1, 1, 0, p; }"
                 : "=r"(x), "=r"(p)
                 : "r"(t + 5), "r"(mask));
    check(p == 1 && (fault || x == 5), 20);
  }
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(x) : "r"(t));
  check(x == (t ^ 1), 21);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 7; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(x) : "r"(t));
  check(x == 127, 22);
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(t));
  check(x == 31 * 16, 23);
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(x));
  check(x == (t == 0), 24);
}

__global__ void memory(const float* in, float* out, unsigned* count, int fault) {
  __shared__ alignas(16) float s[256];
  const int t = threadIdx.x;
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(in + 4 * t +
                     (fault == 1   ? 1
                      : fault == 2 ? 4
                                   : 0)));
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(smem(s + 4 * t)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
  if (fault != 4) asm volatile("bar.sync 0;" ::: "memory");
  float r;
  if (fault == 5)
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(r) : "l"(s + 255 - t));
  else
    asm volatile("ld.shared.f32 %0, [%1+4];" : "=f"(r) : "r"(smem(s + 254 - t)));
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(out + t), "f"(r) : "memory");
  unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(count), "r"(2u) : "memory");
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  int numbers[128], *d_numbers;
  for (int i = 0; i < 128; ++i) numbers[i] = i * 2654435761u;
  cudaMalloc(&d_numbers, sizeof(numbers));
  cudaMemcpy(d_numbers, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
  arithmetic<<<1, 64>>>(d_numbers);
  collectives<<<1, 32>>>(fault);
  float values[256], back[64], *d_in, *d_out;
  unsigned* d_count;
  for (int i = 0; i < 256; ++i) values[i] = i;
  cudaMalloc(&d_in, sizeof(values));
  cudaMalloc(&d_out, sizeof(back));
  cudaMalloc(&d_count, 4);
  cudaMemset(d_count, 0, 4);
  cudaMemcpy(d_in, values, sizeof(values), cudaMemcpyHostToDevice);
  memory<<<1, 64>>>(d_in, d_out, d_count, fault);
  unsigned count = 0;
  int wrong = 0;
  cudaMemcpy(&count, d_count, 4, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&wrong, failures, 4);
  if (cudaMemcpy(back, d_out, sizeof(back), cudaMemcpyDeviceToHost) == cudaSuccess)
    for (int i = 0; i < 64; ++i) wrong += back[i] != float(255 - i);
  puts(wrong == 0 && count == 192 ? "right" : "wrong");
}
