// Prefix sums of a block (Hillis and Steele, double buffered) and of a grid (work-efficient, then the sums of the blocks).
// Faults: 1 one buffer in place of two, 2 no barrier in the loop, 3 the down sweep without one, 4 an index beyond the end.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int N = 256;

__global__ void hillis_steele(const int* in, int* out, int fault) {
  __shared__ int buffer[2][N];
  const int t = threadIdx.x;
  int now = 0;
  buffer[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < N; d *= 2) {
    const int next = fault == 1 ? now : 1 - now;
    buffer[next][t] = t >= d ? buffer[now][t] + buffer[now][t - d] : buffer[now][t];
    now = next;
    if (fault != 2) __syncthreads();
  }
  out[t] = buffer[now][t];
}

__global__ void blelloch(const int* in, int* out, int* sums, int fault) {
  __shared__ int s[2 * N];
  const int t = threadIdx.x, base = blockIdx.x * 2 * N;
  s[2 * t] = in[base + 2 * t];
  s[2 * t + 1] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = N; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = s[2 * N - 1], s[2 * N - 1] = 0;
  for (int d = 1; d < 2 * N; d *= 2) {
    offset /= 2;
    if (fault != 3) __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1 + (fault == 4 ? 1 : 0);
      const int left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t];
  out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void add_sums(int* out, const int* sums) {
  int before = 0;
  for (unsigned b = 0; b < blockIdx.x; ++b) before += sums[b];
  for (int i = threadIdx.x; i < 2 * N; i += blockDim.x) out[blockIdx.x * 2 * N + i] += before;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, blocks = 3, n = blocks * 2 * N;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 7;
  int *d_in, *d_out, *d_sums;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_sums, blocks * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  hillis_steele<<<1, N>>>(d_in, d_out, fault);
  cudaMemcpy(out.data(), d_out, N * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0, sum = 0; i < N && !fault; ++i)
    if (out[i] != (sum += in[i])) return printf("wrong at %d\n", i), 1;
  blelloch<<<blocks, N>>>(d_in, d_out, d_sums, fault);
  add_sums<<<blocks, 64>>>(d_out, d_sums);
  cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0, sum = 0; i < n && !fault; sum += in[i++])
    if (out[i] != sum) return printf("wrong at %d\n", i), 1;
  printf("right\n");
}
