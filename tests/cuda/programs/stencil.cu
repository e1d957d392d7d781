// A stencil of 7 points with coefficients in constant memory, and a halo in shared memory. Faults: 1 no barrier, 2 the right
// halo is not loaded, 3 the halo is one element too narrow, 4 the kernel writes constant memory.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RADIUS 3
#define BLOCK 64

__constant__ float coefficients[RADIUS + 1];

__global__ void stencil(const float* in, float* out, int n, int fault) {
  __shared__ float s[BLOCK + 2 * RADIUS];
  const int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + RADIUS;
  s[l] = g < n ? in[g] : 0;
  if (threadIdx.x < RADIUS) {
    s[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
    if (fault != 2) s[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
  }
  if (fault != 1) __syncthreads();
  if (fault == 4) coefficients[0] = 1;
  float sum = coefficients[0] * s[l];
  for (int r = 1; r <= RADIUS; ++r) sum += coefficients[r] * (s[l - r] + s[fault == 3 ? l + r + 1 : l + r]);
  if (g < n) out[g] = sum;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 200;
  std::vector<float> in(n, 1), out(n);
  const float c[RADIUS + 1] = {1, 2, 3, 4};
  float *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpyToSymbol(coefficients, c, sizeof c);
  cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n, fault);
  cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (!fault && (out[100] != 19 || out[0] != 10)) return printf("wrong: %g %g\n", out[100], out[0]), 1;
  printf("right\n");
}
