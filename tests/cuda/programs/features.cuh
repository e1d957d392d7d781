#pragma once
#include <cuda_runtime.h>

#define cudaCheck(call) check((call), __FILE__, __LINE__)
inline void check(cudaError_t status, const char* file, int line) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(status));
  exit(1);
}

#define HD __host__ __device__ __forceinline__

namespace geometry {

struct __align__(16) Particle {
  float3 position;
  float mass;
};

HD float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HD float3 operator-(const float3& a, const float3& b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }

template <typename T, int TILE>
struct Tile {
  T values[TILE][TILE + 1];
  __device__ T& operator()(int i, int j) { return values[i][j]; }
};

}  // namespace geometry
