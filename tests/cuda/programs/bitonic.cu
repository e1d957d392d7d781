// Sorts keys by a bitonic network: steps within a block in shared memory, others in global memory. Faults: 1 no barrier
// between steps, 2 partners of other warps without one (a __syncwarp in its place), 3 the larger of each pair is compared, too.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Key = unsigned;
constexpr int BLOCK = 128;

__device__ inline void compare(Key& a, Key& b, bool up) {
  if ((a > b) == up) {
    const Key t = a;
    a = b;
    b = t;
  }
}

__global__ void in_block(Key* keys, int size, int fault) {
  __shared__ Key s[2 * BLOCK];
  const int base = blockIdx.x * 2 * BLOCK, t = threadIdx.x;
  s[t] = keys[base + t];
  s[t + BLOCK] = keys[base + t + BLOCK];
  for (int k = 2; k <= size && k <= 2 * BLOCK; k *= 2)
    for (int d = k / 2; d > 0; d /= 2) {
      if (fault == 2)
        __syncwarp();
      else if (fault != 1)
        __syncthreads();
      const int i = 2 * t - (t & (d - 1));
      compare(s[i], s[i + d], ((base + i) & k) == 0);
    }
  __syncthreads();
  keys[base + t] = s[t];
  keys[base + t + BLOCK] = s[t + BLOCK];
}

__global__ void step(Key* keys, int n, int k, int d, int fault) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ d;
  if (i < n && (fault == 3 || partner > i)) compare(keys[i], keys[partner], (i & k) == 0);
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 1024;
  std::vector<Key> keys(n), sorted(n);
  for (int i = 0; i < n; ++i) keys[i] = i * 2654435761u >> 7;
  Key* d_keys;
  cudaMalloc(&d_keys, n * sizeof(Key));
  cudaMemcpy(d_keys, keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice);
  in_block<<<n / (2 * BLOCK), BLOCK>>>(d_keys, n, fault);
  for (int k = 4 * BLOCK; k <= n; k *= 2)
    for (int d = k / 2; d > 0; d /= 2) step<<<n / 256, 256>>>(d_keys, n, k, d, fault);
  cudaMemcpy(sorted.data(), d_keys, n * sizeof(Key), cudaMemcpyDeviceToHost);
  std::sort(keys.begin(), keys.end());
  if (!fault && keys != sorted) return printf("wrong\n"), 1;
  printf("right\n");
}
