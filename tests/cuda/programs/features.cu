// Many ways to say things: headers, templates, namespaces, function pointers, functors, managed and pitched memory, vector
// types, classes that launch, old and new casts. It has no fault; it must compile and be right.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "features.cuh"

using namespace std;

__managed__ int managed_total;
__device__ __constant__ float2 scale = {2.0f, 0.5f};
static __device__ const int table[4] = {1, 2, 4, 8};
__device__ unsigned long long counter, *unused;
constexpr int kBlock = 64;

template <typename F>
__global__ void for_each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

struct Square {
  float* y;
  __device__ void operator()(int i) const { y[i] = i * scale.x * (i * scale.y); }
};

namespace physics {
using geometry::operator-;

__global__ void energies(const geometry::Particle* __restrict__ p, float* e, const int n) {
  __shared__ geometry::Particle tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = 0;
  for (int base = 0; base < n; base += kBlock) {
    if (base + threadIdx.x < n) tile[threadIdx.x] = p[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < min(kBlock, n - base) && i < n; ++j) {
      const float3 d = tile[j].position - p[i].position;
      sum += tile[j].mass * rsqrtf(geometry::dot(d, d) + 1.0f);
    }
    __syncthreads();
  }
  if (i < n) e[i] = sum;
}
}  // namespace physics

template <typename T, int TILE = 16>
__global__ void pitched(T* out, size_t out_pitch, const T* in, size_t in_pitch, int w, int h) {
  __shared__ geometry::Tile<T, TILE> tile;
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) tile(threadIdx.y, threadIdx.x) = *((const T*)((const char*)in + y * in_pitch) + x);
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < h && y < w)
    *(reinterpret_cast<T*>(reinterpret_cast<char*>(out) + y * out_pitch) + x) = tile(threadIdx.x, threadIdx.y);
}

__global__ void set_total(int v) {
  if (threadIdx.x == 0 && blockIdx.x == 0) managed_total = v + table[3];
  if (threadIdx.x % 2) atomicAdd(&counter, 1ull);
}
__global__ void add_total(int v) {
  if (threadIdx.x == 0 && blockIdx.x == 0) managed_total += v;
}

// Both kinds of dynamic shared memory share bytes.
__global__ void two_views(int* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  int* numbers = reinterpret_cast<int*>(raw);
  float* reals = (float*)(numbers + blockDim.x);
  numbers[threadIdx.x] = threadIdx.x;
  reals[threadIdx.x] = threadIdx.x * 0.5f;
  __syncthreads();
  const int other = blockDim.x - 1 - threadIdx.x;
  out[threadIdx.x] = numbers[other] + int(2 * reals[other]);
}

class Solver {
 public:
  explicit Solver(int n) : n_(n) { cudaCheck(cudaMalloc(&this->data_, n * sizeof(*data_))); }
  ~Solver() { cudaFree(data_); }
  void run() {
    for_each<<<2, kBlock>>>(n_, Square{data_});
    cudaCheck(cudaGetLastError());
  }
  vector<float> result() const {
    vector<float> r(n_);
    cudaCheck(cudaMemcpy(r.data(), data_, n_ * sizeof(float), cudaMemcpyDeviceToHost));
    return r;
  }

 private:
  int n_;
  float* data_ = nullptr;
};

int main(int argc, char** argv) {
  int devices = 0;
  cudaDeviceProp device{};
  cudaCheck(cudaGetDeviceCount(&devices));
  cudaCheck(cudaGetDeviceProperties(&device, 0));
  assert(devices == 1 && device.warpSize == 32);

  Solver solver(100);
  solver.run();
  if (solver.result()[99] != 99 * 99) return cout << "wrong: square\n", 1;

  const int n = 70;
  vector<geometry::Particle> particles(n, {make_float3(0, 0, 0), 1.0f});
  geometry::Particle* d_p;
  float* d_e;
  vector<float> e(n);
  cudaCheck(cudaMalloc((void**)&d_p, n * sizeof(geometry::Particle)));
  cudaCheck(cudaMalloc((void**)&d_e, n * sizeof(float)));
  cudaCheck(cudaMemcpy(d_p, &particles[0], n * sizeof(geometry::Particle), cudaMemcpyHostToDevice));
  physics::energies<<<dim3((n + kBlock - 1) / kBlock, 1, 1), kBlock>>>(d_p, d_e, n);
  cudaCheck(cudaMemcpy(e.data(), d_e, n * sizeof(float), cudaMemcpyDeviceToHost));
  if (accumulate(e.begin(), e.end(), 0.0f) != n * n) return cout << "wrong: energies\n", 1;

  const int w = 33, h = 21;
  vector<short> image(w * h), turned(w * h);
  iota(image.begin(), image.end(), 0);
  short *d_in, *d_out;
  size_t in_pitch, out_pitch;
  cudaCheck(cudaMallocPitch(&d_in, &in_pitch, w * sizeof(short), h));
  cudaCheck(cudaMallocPitch(&d_out, &out_pitch, h * sizeof(short), w));
  cudaCheck(
      cudaMemcpy2D(d_in, in_pitch, image.data(), w * sizeof(short), w * sizeof(short), h, cudaMemcpyHostToDevice));
  pitched<short><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d_out, out_pitch, d_in, in_pitch, w, h);
  cudaCheck(
      cudaMemcpy2D(turned.data(), h * sizeof(short), d_out, out_pitch, h * sizeof(short), w, cudaMemcpyDeviceToHost));
  if (turned[5 * h + 7] != 7 * w + 5) return cout << "wrong: pitched\n", 1;

  void (*kernels[])(int) = {set_total, add_total};
  int values[] = {34, 58};
  for (int k = 0; k < 2; ++k) kernels[k]<<<1, 32>>>(values[k]);
  cudaCheck(cudaDeviceSynchronize());
  if (managed_total != 100) return cout << "wrong: managed " << managed_total << "\n", 1;
  unsigned long long count;
  cudaCheck(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  if (count != 16) return cout << "wrong: counter " << count << "\n", 1;

  int *d_two, two[kBlock];
  cudaCheck(cudaMalloc(&d_two, sizeof two));
  void* arguments[] = {&d_two};
  cudaCheck(cudaLaunchKernel((const void*)two_views, dim3(1), dim3(kBlock), arguments,
                             kBlock * (sizeof(int) + sizeof(float)), 0));
  cudaCheck(cudaMemcpy(two, d_two, sizeof two, cudaMemcpyDefault));
  if (two[0] != 126) return cout << "wrong: two views\n", 1;
  cout << "right\n";
  return 0;
}
