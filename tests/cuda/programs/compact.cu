// Keeps the positive numbers, with one atomic for each warp. Faults: 1 the count is no atomic, 2 the ballot's mask names
// lanes that have returned... 3 a block counts in shared memory without a barrier.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void compact(const int* in, int* out, int* count, int n, int fault) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && in[i] > 0;
  if (fault == 2 && !keep) {
    __syncthreads();
    return;
  }
  const unsigned kept = __ballot_sync(0xffffffff, keep), lane = threadIdx.x & 31;
  if (fault == 2) __syncthreads();
  int base = 0;
  if (lane == 0) {
    if (fault == 1) {
      base = *count;
      *count = base + __popc(kept);
    } else {
      base = atomicAdd(count, __popc(kept));
    }
  }
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}

__global__ void count_block(const int* in, int* count, int n, int fault) {
  __shared__ int positive;
  if (threadIdx.x == 0) positive = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(&positive, 1);
  const int votes = __syncthreads_count(i < n && in[i] > 0);
  if (fault == 3) atomicSub(&positive, 0);
  if (threadIdx.x == 0) atomicAdd(count, positive == votes ? positive : -100000);
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, n = 500;
  std::vector<int> in(n), out(n);
  int expected = 0, count = 0;
  for (int i = 0; i < n; ++i) in[i] = i % 3 - 1, expected += in[i] > 0;
  int *d_in, *d_out, *d_count;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_count, 2 * sizeof(int));
  cudaMemset(d_count, 0, 2 * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  compact<<<4, 128>>>(d_in, d_out, d_count, n, fault);
  cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost);
  if (!fault && count != expected) return printf("wrong: %d\n", count), 1;
  cudaMemcpy(out.data(), d_out, count * sizeof(int), cudaMemcpyDeviceToHost);
  count_block<<<4, 128>>>(d_in, d_count + 1, n, fault);
  cudaMemcpy(&count, d_count + 1, sizeof count, cudaMemcpyDeviceToHost);
  if (!fault && count != expected) return printf("wrong: %d\n", count), 1;
  printf("right\n");
}
