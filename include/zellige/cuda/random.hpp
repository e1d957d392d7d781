// cuRAND: random numbers of the host's calls and of kernels. The sequences are not cuRAND's: each number is a hash of seed,
// subsequence and offset, so that a state can skip numbers and equal seeds give equal numbers.
#pragma once
#include <vector>

#include "zellige/cuda/math.hpp"

namespace zellige::cuda {

/// Returns a number of 64 bits that depends on all bits of x (the finalizer of SplitMix64).
inline unsigned long long scramble(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
/// A sequence of random numbers.
struct RandomSequence {
  unsigned long long key = 0, next = 0;
  unsigned bits() { return static_cast<unsigned>(scramble(key ^ scramble(next++)) >> 32); }
  /// Returns a number in (0, 1].
  float uniform() { return (static_cast<float>(bits() >> 8) + 1.0f) * 0x1p-24f; }
  double uniform_double() {
    const unsigned long long high = bits();
    return (static_cast<double>(high << 21 ^ bits() >> 11) + 1.0) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform_double()));
    return radius * std::cos(6.283185307179586 * uniform_double());
  }
};

}  // namespace zellige::cuda

// The states of kernels.
using curandStateXORWOW_t = ::zellige::cuda::RandomSequence;
using curandState_t = curandStateXORWOW_t;
using curandState = curandStateXORWOW_t;
using curandStateXORWOW = curandStateXORWOW_t;
using curandStatePhilox4_32_10_t = ::zellige::cuda::RandomSequence;
using curandStatePhilox4_32_10 = ::zellige::cuda::RandomSequence;
using curandStateMRG32k3a_t = ::zellige::cuda::RandomSequence;
using curandStateMRG32k3a = ::zellige::cuda::RandomSequence;

ZELLIGE_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                ::zellige::cuda::RandomSequence* s) {
  *s = {::zellige::cuda::scramble(seed) ^ ::zellige::cuda::scramble(~sequence), offset};
}
ZELLIGE_DEVICE void skipahead(unsigned long long n, ::zellige::cuda::RandomSequence* s) { s->next += n; }
ZELLIGE_DEVICE unsigned curand(::zellige::cuda::RandomSequence* s) { return s->bits(); }
ZELLIGE_DEVICE float curand_uniform(::zellige::cuda::RandomSequence* s) { return s->uniform(); }
ZELLIGE_DEVICE double curand_uniform_double(::zellige::cuda::RandomSequence* s) { return s->uniform_double(); }
ZELLIGE_DEVICE float curand_normal(::zellige::cuda::RandomSequence* s) { return static_cast<float>(s->normal()); }
ZELLIGE_DEVICE double curand_normal_double(::zellige::cuda::RandomSequence* s) { return s->normal(); }
ZELLIGE_DEVICE float2 curand_normal2(::zellige::cuda::RandomSequence* s) {
  const float x = curand_normal(s);
  return {x, curand_normal(s)};
}
ZELLIGE_DEVICE uint4 curand4(::zellige::cuda::RandomSequence* s) {
  const unsigned x = s->bits(), y = s->bits(), z = s->bits();
  return {x, y, z, s->bits()};
}
ZELLIGE_DEVICE float4 curand_uniform4(::zellige::cuda::RandomSequence* s) {
  const float x = s->uniform(), y = s->uniform(), z = s->uniform();
  return {x, y, z, s->uniform()};
}
ZELLIGE_DEVICE float4 curand_normal4(::zellige::cuda::RandomSequence* s) {
  const float2 a = curand_normal2(s), b = curand_normal2(s);
  return {a.x, a.y, b.x, b.y};
}

// The host's calls.
enum curandStatus_t : int {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
enum curandRngType_t : int {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};
using curandGenerator_t = ::zellige::cuda::RandomSequence*;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* g, curandRngType_t) {
  return *g = new ::zellige::cuda::RandomSequence, CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t g) { return delete g, CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
  return *g = {::zellige::cuda::scramble(seed), 0}, CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
  return g->next = offset, CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }

namespace zellige::cuda {
/// Gives memory of the device, or of the host, random numbers.
template <class T, class F>
curandStatus_t generate(T* p, std::size_t n, F number) {
  std::vector<T> all(n);
  for (T& x : all) x = static_cast<T>(number());
  return cudaMemcpy(p, all.data(), n * sizeof(T), cudaMemcpyDefault) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                                                    : CURAND_STATUS_LAUNCH_FAILURE;
}
}  // namespace zellige::cuda

inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* p, std::size_t n) {
  return ::zellige::cuda::generate(p, n, [g] { return g->bits(); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* p, std::size_t n) {
  return ::zellige::cuda::generate(p, n, [g] { return g->uniform(); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* p, std::size_t n) {
  return ::zellige::cuda::generate(p, n, [g] { return g->uniform_double(); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* p, std::size_t n, float mean, float deviation) {
  return ::zellige::cuda::generate(p, n, [=] { return mean + deviation * g->normal(); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* p, std::size_t n, double mean,
                                                 double deviation) {
  return ::zellige::cuda::generate(p, n, [=] { return mean + deviation * g->normal(); });
}
