// Counts bytes by value, in shared memory and then in global memory. Faults: 1 ++ in place of atomicAdd, 2 the bins are not
// cleared, 3 no barrier after clearing, 4 no barrier before the bins are added up, 5 += on global memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ unsigned total[256];

__global__ void histogram(const unsigned char* bytes, int n, int fault) {
  __shared__ unsigned bins[256];
  if (fault != 2)
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
  if (fault != 3) __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (fault == 1)
      ++bins[bytes[i]];
    else
      atomicAdd(&bins[bytes[i]], 1u);
  }
  if (fault != 4) __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (fault == 5)
      total[b] += bins[b];
    else
      atomicAdd(&total[b], bins[b]);
  }
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 2000;
  unsigned char text[n], *d_text;
  for (int i = 0; i < n; ++i) text[i] = (i * i) % 251;
  cudaMalloc(&d_text, n);
  cudaMemcpy(d_text, text, n, cudaMemcpyHostToDevice);
  unsigned counts[256] = {}, expected[256] = {};
  cudaMemcpyToSymbol(total, counts, sizeof counts);
  histogram<<<4, 96>>>(d_text, n, fault);
  cudaMemcpyFromSymbol(counts, total, sizeof counts);
  for (unsigned char c : text) ++expected[c];
  if (!fault && memcmp(counts, expected, sizeof counts)) return printf("wrong\n"), 1;
  printf("right\n");
}
