// CUDA's cuComplex.h: complex numbers of float and double.
#pragma once
#include "zellige/cuda/math.hpp"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define ZELLIGE_COMPLEX(SUFFIX, T, C)                                                          \
  inline T cuCreal##SUFFIX(C z) { return z.x; }                                                \
  inline T cuCimag##SUFFIX(C z) { return z.y; }                                                \
  inline C cuConj##SUFFIX(C z) { return {z.x, -z.y}; }                                         \
  inline C cuCadd##SUFFIX(C a, C b) { return {a.x + b.x, a.y + b.y}; }                         \
  inline C cuCsub##SUFFIX(C a, C b) { return {a.x - b.x, a.y - b.y}; }                         \
  inline C cuCmul##SUFFIX(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  inline C cuCdiv##SUFFIX(C a, C b) {                                                          \
    const T n = b.x * b.x + b.y * b.y;                                                         \
    return {(a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n};                         \
  }                                                                                            \
  inline T cuCabs##SUFFIX(C z) { return std::hypot(z.x, z.y); }                                \
  inline C cuCfma##SUFFIX(C a, C b, C c) { return cuCadd##SUFFIX(cuCmul##SUFFIX(a, b), c); }
ZELLIGE_COMPLEX(f, float, cuFloatComplex)
ZELLIGE_COMPLEX(, double, cuDoubleComplex)
#undef ZELLIGE_COMPLEX
inline cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
inline cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
