// CUB's functions of blocks, warps and the device; Thrust's vectors and algorithms.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cub/cub.cuh>

static int wrong = 0;
#define EXPECT(condition) \
  if (!(condition)) ++wrong, printf("line %d is wrong\n", __LINE__)

template <int Threads>
__global__ void block_sums(const int* in, int* out, int* scanned) {
  using Reduce = cub::BlockReduce<int, Threads>;
  using Scan = cub::BlockScan<int, Threads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } temp;
  const int x = in[blockIdx.x * Threads + threadIdx.x];
  const int sum = Reduce(temp.reduce).Sum(x);
  __syncthreads();
  int before;
  Scan(temp.scan).ExclusiveSum(x, before);
  scanned[blockIdx.x * Threads + threadIdx.x] = before;
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void warp_max(const int* in, int* out) {
  __shared__ cub::WarpReduce<int>::TempStorage temp[2];
  const int m = cub::WarpReduce<int>(temp[threadIdx.x / 32]).Reduce(in[threadIdx.x], cub::Max());
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = m;
}
struct saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct store_squares {
  float* p;
  __device__ void operator()(int i) const { p[i] = (float)(i * i); }
};

struct add_both {
  template <class T>
  __host__ __device__ void operator()(T t) const {
    thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t);
  }
};

int main() {
  const int n = 256;
  thrust::host_vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 37) % 101;
  thrust::device_vector<int> d = h, out(2), scanned(n), sorted(n);
  block_sums<128><<<2, 128>>>(thrust::raw_pointer_cast(d.data()), thrust::raw_pointer_cast(out.data()),
                              thrust::raw_pointer_cast(&scanned[0]));
  int total = 0;
  for (int x : h) total += x;
  EXPECT(out[0] + out[1] == total && scanned[1] == h[0] && scanned[128] == 0);
  warp_max<<<1, 64>>>(d.data().get(), out.data().get());
  EXPECT(out[0] == *std::max_element(h.begin(), h.begin() + 32));

  void* memory = nullptr;
  size_t bytes = 0;
  thrust::device_vector<int> sum(1);
  cub::DeviceReduce::Sum(memory, bytes, d.data().get(), sum.data().get(), n);
  cudaMalloc(&memory, bytes);
  cub::DeviceReduce::Sum(memory, bytes, d.data().get(), sum.data().get(), n);
  EXPECT(sum[0] == total);
  cub::DeviceRadixSort::SortKeys(memory, bytes, d.data().get(), sorted.data().get(), n);
  EXPECT(thrust::is_sorted(sorted.begin(), sorted.end()));
  cub::DeviceScan::InclusiveSum(memory, bytes, d.data().get(), sorted.data().get(), n);
  EXPECT(sorted.back() == total);
  cudaFree(memory);

  thrust::device_vector<float> x(100), y(100, 2.0f);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(thrust::device, x.begin(), x.end(), y.begin(), y.begin(), saxpy{3.0f});
  EXPECT(y[10] == 32.0f);
  thrust::for_each(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(100),
                   store_squares{thrust::raw_pointer_cast(x.data())});
  EXPECT(x[9] == 81.0f);
  EXPECT(thrust::reduce(x.begin(), x.end(), 0.0f, thrust::plus<float>()) == 328350.0f);
  EXPECT(thrust::transform_reduce(y.begin(), y.end(), thrust::negate<float>(), 0.0f, thrust::plus<float>()) < 0);
  thrust::sort(d.begin(), d.end(), thrust::greater<int>());
  EXPECT(d[0] == 100 && thrust::count(d.begin(), d.end(), 100) == 3);
  thrust::device_vector<int> keys(4), values(4);
  keys[0] = 3, keys[1] = 1, keys[2] = 2, keys[3] = 0;
  thrust::sequence(values.begin(), values.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  EXPECT(values[0] == 3 && values[3] == 0);
  thrust::exclusive_scan(values.begin(), values.end(), keys.begin());
  EXPECT(keys[3] == 6);
  thrust::host_vector<int> back = keys;
  thrust::copy(keys.begin(), keys.end(), back.begin());
  EXPECT(back[1] == 3 && thrust::max_element(keys.begin(), keys.end()) - keys.begin() == 3);
  thrust::device_vector<float> a(10, 1.0f), b(10, 2.0f), c(10);
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(a.end(), b.end(), c.end())), add_both());
  EXPECT(c[9] == 3.0f);
  thrust::default_random_engine engine(1);
  thrust::uniform_real_distribution<float> uniform(0, 1);
  c[0] = uniform(engine);
  EXPECT(c[0] >= 0.0f && c[0] < 1.0f);
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}
