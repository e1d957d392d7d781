// Lanes of a warp that store to the same place. One instruction with equal values is in order. Argument: 0 right, 1 the lanes store different
// values, 2 two instructions store equal values, 3 lanes of two warps do.
#include <cstdio>
#include <cstdlib>

__global__ void vote(const int* in, int* out, int fault) {
  __shared__ int any[2];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) any[warp] = 0;
  __syncwarp();
  if (in[threadIdx.x] > 0) any[fault == 3 ? 0 : warp] = fault == 1 ? threadIdx.x : 1;
  if (fault == 2 && in[threadIdx.x] > 1) any[warp] = 1;
  __syncthreads();
  out[threadIdx.x] = any[warp];
}

int main(int, char** v) {
  int in[64], out[64], *d_in, *d_out;
  for (int i = 0; i < 64; ++i) in[i] = i % 4;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
  vote<<<1, 64>>>(d_in, d_out, std::atoi(v[1]));
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  std::puts(out[0] == 1 && out[63] == 1 ? "right" : "wrong");
}
