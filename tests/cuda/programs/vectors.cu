// Arithmetic on vectors as helper_math.h of NVIDIA's samples has it, and OpenMP's functions on the host.
#include <cuda_runtime.h>
#include <omp.h>

#include <cstdio>

#include "helper_math.h"

__global__ void step(float4* bodies, float3* velocities, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 force = make_float3(0.0f);
  for (int j = 0; j < n; ++j) {
    const float3 d = make_float3(bodies[j]) - make_float3(bodies[i]);
    force += d * (bodies[j].w / (dot(d, d) + 1.0f));
  }
  velocities[i] = clamp(force / 2.0f, -8.0f, 8.0f) + cross(make_float3(1.0f, 0, 0), make_float3(0, 1.0f, 0));
}

int main() {
  const int n = 8;
  float4 bodies[n];
  float3 velocities[n];
  for (int i = 0; i < n; ++i) bodies[i] = make_float4(i % 2, i / 2 % 2, i / 4, 1.0f);
  float4* d_bodies;
  float3* d_velocities;
  cudaMalloc(&d_bodies, sizeof(bodies));
  cudaMalloc(&d_velocities, sizeof(velocities));
  cudaMemcpy(d_bodies, bodies, sizeof(bodies), cudaMemcpyHostToDevice);
#pragma omp parallel num_threads(1)
  step<<<1 + omp_get_thread_num(), n>>>(d_bodies, d_velocities, n);
  cudaMemcpy(velocities, d_velocities, sizeof(velocities), cudaMemcpyDeviceToHost);
  float3 sum = make_float3(0.0f);
  for (const float3& v : velocities) sum += v;
  const bool right = length(sum - make_float3(0, 0, float(n))) < 1e-4f && length(velocities[0]) > 1.0f;
  std::printf(right ? "right\n" : "wrong: %f %f %f\n", sum.x, sum.y, sum.z);
  return right ? 0 : 1;
}
