// A list with a lock, a flag between blocks, and an assertion. Faults: 1 the lock is not released, 2 no fence before the flag,
// 3 the assertion does not hold, 4 a barrier in a branch, 5 an endless loop, 6 no fence before the lock is released.
#include <cassert>
#include <cstdio>
#include <cstdlib>

__device__ int mutex = 0;
__device__ int length = 0, list[64];

__global__ void push(int fault) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      const int at = length++;
      list[at] = threadIdx.x;
      if (fault != 6) __threadfence();
      if (fault != 1) atomicExch(&mutex, 0);
      done = true;
    }
  }
}

__device__ volatile int ready;
__device__ int data;

__global__ void flag(int* result, int fault) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data = 42;
    if (fault != 2) __threadfence();
    ready = 1;
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (ready == 0) {
    }
    __threadfence();
    *result = data;
    printf("data %d\n", data);
  }
}

__global__ void checks(int n, int fault) {
  assert(int(threadIdx.x) < n);
  if (fault == 4 && threadIdx.x < 16) __syncthreads();
  while (fault == 5) n += clock64() & 1;
  if (n < 0) printf("%d\n", n);
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0;
  push<<<1, 32>>>(fault);
  int n = 0, *result;
  cudaMemcpyFromSymbol(&n, length, sizeof n);
  if (!fault && n != 32) return printf("wrong: %d\n", n), 1;
  cudaMalloc(&result, sizeof n);
  flag<<<2, 32>>>(result, fault);
  cudaMemcpy(&n, result, sizeof n, cudaMemcpyDeviceToHost);
  if (!fault && n != 42) return printf("wrong: %d\n", n), 1;
  checks<<<1, 64>>>(fault == 3 ? 50 : 64, fault);
  printf("right\n");
}
