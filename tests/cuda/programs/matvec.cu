// y = A x with x in dynamic shared memory, on streams and timed by events. Faults: 1 the launch asks for half of the shared memory,
// 2 a block of 2048 threads, 3 more than 48 KB without asking, 4 a use after cudaFree, 5 a copy in the wrong direction.
#include <cstdio>
#include <cstdlib>
#include <vector>

extern __shared__ float x_shared[];

__global__ void matvec(const float* A, const float* x, float* y, int rows, int columns) {
  for (int c = threadIdx.x; c < columns; c += blockDim.x) x_shared[c] = x[c];
  __syncthreads();
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum = fmaf(A[row * columns + c], x_shared[c], sum);
  y[row] = sum;
}

int main(int argc, char** argv) {
  const int fault = argc > 1 ? atoi(argv[1]) : 0, rows = 70, columns = 40;
  std::vector<float> A(rows * columns, 2), x(columns, 3), y(rows);
  float *d_A, *d_x, *d_y;
  cudaMalloc(&d_A, A.size() * sizeof(float));
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_y, y.size() * sizeof(float));
  cudaStream_t stream;
  cudaEvent_t start, stop;
  cudaStreamCreate(&stream);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMemcpyAsync(d_A, A.data(), A.size() * sizeof(float), fault == 5 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                  stream);
  cudaMemcpyAsync(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaEventRecord(start, stream);
  size_t shared = columns * sizeof(float);
  if (fault == 4) cudaFree(d_x);
  if (fault == 3)
    matvec<<<2, 64, 60000, stream>>>(d_A, d_x, d_y, rows, columns);
  else if (fault == 2)
    matvec<<<1, 2048, shared, stream>>>(d_A, d_x, d_y, rows, columns);
  else
    matvec<<<(rows + 63) / 64, 64, fault == 1 ? shared / 2 : shared, stream>>>(d_A, d_x, d_y, rows, columns);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error)), 2;
  cudaEventRecord(stop, stream);
  cudaEventSynchronize(stop);
  float ms = -1;
  cudaEventElapsedTime(&ms, start, stop);
  cudaMemcpyAsync(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int r = 0; r < rows && !fault; ++r)
    if (y[r] != 240 || ms < 0) return printf("wrong at %d: %g\n", r, y[r]), 1;
  cudaFuncSetAttribute(matvec, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  matvec<<<2, 64, 90000>>>(d_A, d_x, d_y, rows, columns);
  printf("right\n");
}
