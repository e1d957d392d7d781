// CUDA in the spellings of others: macros that launch, kernels as template arguments, shared memory of dependent types and in
// lambdas, NULL, operators on vector types, globals with initial values. It has no fault.
#include <cuda_runtime.h>
#include <stdio.h>
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define CUDA_CALL(x)                                  \
  do {                                                \
    if ((x) != cudaSuccess) {                         \
      printf("Error at %s:%d\n", __FILE__, __LINE__); \
      return EXIT_FAILURE;                            \
    }                                                 \
  } while (0)
typedef struct __align__(8) {
  int a;
  float b;
}
Pair8;
extern "C" __global__ void __launch_bounds__(64, 2) plain(int* out, Pair8 p = {1, 2.0f}) {
  out[threadIdx.x] = p.a + int(p.b);
}
__launch_bounds__(256) __global__ void other(float* out, const float* in) {
  asm volatile("" ::: "memory");
  if (in)
    out[threadIdx.x] = 1;
  else
    out[threadIdx.x] = 2;
}
template <void (*K)(float*, const float*)>
void run(float* p) {
  K<<<1, 32>>>(p, NULL);
}
template <typename T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};
template <class T, unsigned int blockSize>
__global__ void reduce(T* g_idata, T* g_odata, unsigned int n) {
  T* sdata = SharedMemory<T>();
  unsigned int tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + threadIdx.x;
  T mySum = (i < n) ? g_idata[i] : 0;
  if (i + blockSize < n) mySum += g_idata[i + blockSize];
  sdata[tid] = mySum;
  __syncthreads();
  if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
  __syncthreads();
  if (tid < 32) {
    mySum += sdata[tid + 32];
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2) mySum += __shfl_down_sync(0xffffffff, mySum, offset);
  }
  if (tid == 0) g_odata[blockIdx.x] = mySum;
}
template <typename T>
__global__ void dependent(typename T::value* out) {
  __shared__ typename T::value a[32], *ptr, b;
  extern __shared__ __align__(sizeof(double)) unsigned char raw[];
  double* d = reinterpret_cast<double*>(raw);
  auto f = [&](int k) {
    __shared__ int inner[32];
    inner[threadIdx.x] = k;
    __syncwarp();
    return inner[31 - threadIdx.x];
  };
  if (threadIdx.x == 0) {
    b = 5;
    ptr = a;
  }
  a[threadIdx.x] = threadIdx.x;
  d[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = ptr[threadIdx.x] + b + f(threadIdx.x) + d[31 - threadIdx.x];
}
struct IntTraits {
  using value = int;
};
__global__ void overloaded(int* x) { x[threadIdx.x] = 1; }
__device__ float4 operator+(const float4& a, const float4& b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
namespace {
template <int M>
__global__ void vec(float4* v, int n) {
  for (int i = threadIdx.x; i < n; i += M) v[i] = v[i] + make_float4(1, 2, 3, 4);
}
}  // namespace
__global__ void volatile_shared(int* out) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
__device__ int d_array[2][16];
__constant__ int c_a = 3, c_b[2] = {1, 2};
__global__ void globals(int* o) {
  d_array[threadIdx.x / 16][threadIdx.x % 16] = c_a + c_b[1];
  __syncthreads();
  o[threadIdx.x] = d_array[1 - threadIdx.x / 16][threadIdx.x % 16];
}
int main(void) {
  int* o;
  float* f;
  float4* v;
  CUDA_CALL(cudaMalloc((void**)&o, 64 * sizeof(int)));
  CUDA_CALL(cudaMalloc(&f, 4096));
  CUDA_CALL(cudaMalloc(&v, 64 * sizeof(*v)));
  cudaMemset(v, 0, 64 * sizeof(*v));
  cudaMemset(f, 0, 4096);
  LAUNCH(plain, 1, 64, o, Pair8{3, 4.0f});
  run<other>(f);
  dim3 dimBlock(128, 1, 1);
  dim3 dimGrid = 2;
  reduce<float, 128><<<dimGrid, dimBlock, 128 * sizeof(float)>>>(f, f + 512, 500);
  dependent<IntTraits><<<1, 32, 32 * sizeof(double)>>>(o);
  overloaded<<<1, 32>>>(o);
  vec<32><<<1, 32>>>(v, 64);
  volatile_shared<<<1, 32>>>(o);
  globals<<<1, 32>>>(o);
  int h[32];
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  printf(h[0] == 5 ? "right\n" : "wrong\n");
  return cudaDeviceSynchronize() != cudaSuccess;
}
