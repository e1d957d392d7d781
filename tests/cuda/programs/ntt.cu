// A number-theoretic transform of 512 elements modulo a prime, in Montgomery form by carries of inline PTX, one block. Faults:
// 1 no barrier between stages, 2 a butterfly beyond the array, 3 the root table one element short, 4 the input is not copied,
// 5 a barrier in a branch, 6 no barrier before the last stage.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr uint32_t P = 998244353, P_INVERSE = 998244351;  // -1 / P modulo 2^32
constexpr int LOG = 9, N = 1 << LOG;

// a b / 2^32 modulo P.
__device__ __forceinline__ uint32_t montgomery(uint32_t a, uint32_t b) {
  uint32_t low, high, m;
  asm("mul.lo.u32 %0, %2, %3;\n\t"
      "mul.hi.u32 %1, %2, %3;"
      : "=&r"(low), "=r"(high)
      : "r"(a), "r"(b));
  m = low * P_INVERSE;
  asm("mad.lo.cc.u32 %0, %2, %3, %0;\n\t"
      "madc.hi.u32 %1, %2, %3, %1;"
      : "+r"(low), "+r"(high)
      : "r"(m), "r"(P));
  return high >= P ? high - P : high;
}

__global__ void transform(const uint32_t* in, uint32_t* out, const uint32_t* roots, int fault) {
  __shared__ uint32_t s[N];
  const int t = threadIdx.x;
  for (int i = t; i < N; i += blockDim.x) s[__brev(i) >> (32 - LOG)] = in[i];
  __syncthreads();
  for (int stage = 0; stage < LOG; ++stage) {
    const int half = 1 << stage, k = t & (half - 1), i = ((t - k) << 1) + k + (fault == 2 ? N / 2 : 0);
    const uint32_t u = s[i], v = montgomery(s[i + half], roots[k << (LOG - 1 - stage)]);
    s[i] = u + v >= P ? u + v - P : u + v;
    s[i + half] = u >= v ? u - v : u + P - v;
    if (fault == 5 && t >= 128) continue;
    if (fault != 1 && (fault != 6 || stage + 2 != LOG)) __syncthreads();
  }
  for (int i = t; i < N; i += blockDim.x) out[i] = s[i];
}

uint32_t multiply(uint64_t a, uint64_t b) { return a * b % P; }
uint32_t power(uint32_t x, uint32_t n) {
  uint32_t r = 1;
  for (; n; n >>= 1, x = multiply(x, x))
    if (n & 1) r = multiply(r, x);
  return r;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  const uint32_t root = power(3, (P - 1) / N), shift = (uint64_t(1) << 32) % P;
  std::vector<uint32_t> x(N), y(N), roots(N / 2);
  for (int i = 0; i < N; ++i) x[i] = i * 2654435761u % P;
  for (int i = 0; i < N / 2; ++i) roots[i] = multiply(power(root, i), shift);
  uint32_t *d_x, *d_y, *d_roots;
  cudaMalloc(&d_x, N * 4);
  cudaMalloc(&d_y, N * 4);
  const int table = (N / 2 - (fault == 3)) * 4;
  cudaMalloc(&d_roots, table);
  if (fault != 4) cudaMemcpy(d_x, x.data(), N * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_roots, roots.data(), table, cudaMemcpyHostToDevice);
  transform<<<1, N / 2>>>(d_x, d_y, d_roots, fault);
  cudaMemcpy(y.data(), d_y, N * 4, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < N; i += 37) {
    uint64_t sum = 0;
    for (int j = 0; j < N; ++j) sum += multiply(x[j], power(root, uint32_t(i) * j % N));
    right = right && y[i] == sum % P;
  }
  puts(right ? "right" : "wrong");
}
