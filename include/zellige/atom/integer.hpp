// Integer arithmetic for kernels with PyTorch's results: int arithmetic wraps on overflow (in C++ it is
// undefined), and conversion of float to int saturates.
//
//   wrap_add(2147483647, 1)   // -2147483648
//   to_int(-1.5f)             // -1;  saturates; NaN gives 0
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

ZELLIGE_ANYWHERE int wrap_add(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x) + static_cast<unsigned>(y));
}
ZELLIGE_ANYWHERE int wrap_sub(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x) - static_cast<unsigned>(y));
}
ZELLIGE_ANYWHERE int wrap_mul(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x) * static_cast<unsigned>(y));
}
ZELLIGE_ANYWHERE int64_t wrap_add(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
ZELLIGE_ANYWHERE int64_t wrap_sub(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
}
ZELLIGE_ANYWHERE int64_t wrap_mul(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
ZELLIGE_ANYWHERE int wrap_neg(int x) { return wrap_sub(0, x); }
ZELLIGE_ANYWHERE int64_t wrap_neg(int64_t x) { return wrap_sub(int64_t(0), x); }
template <class T>
ZELLIGE_ANYWHERE T wrap_abs(T x) {
  return x < 0 ? wrap_neg(x) : x;
}
/// Returns x + y; integers wrap on overflow. Reductions add with this function.
ZELLIGE_ANYWHERE int sum_of(int x, int y) { return wrap_add(x, y); }
ZELLIGE_ANYWHERE int64_t sum_of(int64_t x, int64_t y) { return wrap_add(x, y); }
ZELLIGE_ANYWHERE float sum_of(float x, float y) { return x + y; }
/// Returns the larger of x and y.
ZELLIGE_ANYWHERE int max(int x, int y) { return x > y ? x : y; }
ZELLIGE_ANYWHERE int64_t max(int64_t x, int64_t y) { return x > y ? x : y; }
/// Returns the smaller of x and y.
ZELLIGE_ANYWHERE int min(int x, int y) { return x < y ? x : y; }
ZELLIGE_ANYWHERE int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }
ZELLIGE_ANYWHERE int relu(int x) { return x > 0 ? x : 0; }
ZELLIGE_ANYWHERE int64_t relu(int64_t x) { return x > 0 ? x : 0; }

/// Returns x rounded toward zero. Values outside of int's range become its least or greatest value; NaN
/// becomes 0.
ZELLIGE_ANYWHERE int to_int(float x) {
#if defined(__CUDA_ARCH__)
  return ::__float2int_rz(x);
#else
  if (x != x) return 0;
  if (x >= 2147483648.0f) return 2147483647;
  return x <= -2147483648.0f ? -2147483647 - 1 : static_cast<int>(x);
#endif
}

/// Returns x rounded toward zero, as to_int does.
ZELLIGE_ANYWHERE int64_t to_int64(float x) {
#if defined(__CUDA_ARCH__)
  return ::__float2ll_rz(x);
#else
  if (x != x) return 0;
  if (x >= 0x1p63f) return 9223372036854775807ll;
  return x <= -0x1p63f ? -9223372036854775807ll - 1 : static_cast<int64_t>(x);
#endif
}

}  // namespace zellige
