// CUDA's vector types and dim3.
#pragma once
#include "zellige/cuda/host.hpp"

// Vectors of 1 to 4 elements, aligned as CUDA aligns them: those of 2 and 4 elements to their size, at most 16 bytes. They are
// structs in no namespace, as CUDA's are, so that programs may declare them, and their operators are found.
#define ZELLIGE_VECTORS(NAME, T)                               \
  struct NAME##1 {                                             \
    T x;                                                       \
  };                                                           \
  struct alignas(2 * sizeof(T)) NAME##2 {                      \
    T x, y;                                                    \
  };                                                           \
  struct alignas(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) NAME##4 { \
    T x, y, z, w;                                              \
  };                                                           \
  inline NAME##1 make_##NAME##1(T x) { return {x}; }           \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }   \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define ZELLIGE_VECTORS_OF_THREE(NAME, T) \
  struct NAME##3 {                        \
    T x, y, z;                            \
  };                                      \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }
ZELLIGE_VECTORS(char, signed char)
ZELLIGE_VECTORS(uchar, unsigned char)
ZELLIGE_VECTORS(short, short)
ZELLIGE_VECTORS(ushort, unsigned short)
ZELLIGE_VECTORS(int, int)
ZELLIGE_VECTORS(uint, unsigned)
ZELLIGE_VECTORS(long, long)
ZELLIGE_VECTORS(ulong, unsigned long)
ZELLIGE_VECTORS(longlong, long long)
ZELLIGE_VECTORS(ulonglong, unsigned long long)
ZELLIGE_VECTORS(float, float)
ZELLIGE_VECTORS(double, double)
ZELLIGE_VECTORS_OF_THREE(char, signed char)
ZELLIGE_VECTORS_OF_THREE(uchar, unsigned char)
ZELLIGE_VECTORS_OF_THREE(short, short)
ZELLIGE_VECTORS_OF_THREE(ushort, unsigned short)
ZELLIGE_VECTORS_OF_THREE(int, int)
ZELLIGE_VECTORS_OF_THREE(long, long)
ZELLIGE_VECTORS_OF_THREE(longlong, long long)
ZELLIGE_VECTORS_OF_THREE(ulonglong, unsigned long long)
ZELLIGE_VECTORS_OF_THREE(float, float)
ZELLIGE_VECTORS_OF_THREE(double, double)
#undef ZELLIGE_VECTORS
#undef ZELLIGE_VECTORS_OF_THREE

/// The type of threadIdx and blockIdx.
using uint3 = ::zellige::emulate::dim3;
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

/// Sizes of grids and blocks.
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
