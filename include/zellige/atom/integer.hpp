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
ZELLIGE_ANYWHERE int wrap_abs(int x) { return x < 0 ? wrap_sub(0, x) : x; }
/// Returns x + y; integers wrap on overflow. Reductions add with this function.
ZELLIGE_ANYWHERE int sum_of(int x, int y) { return wrap_add(x, y); }
ZELLIGE_ANYWHERE float sum_of(float x, float y) { return x + y; }
/// Returns the larger of x and y.
ZELLIGE_ANYWHERE int max(int x, int y) { return x > y ? x : y; }
/// Returns the smaller of x and y.
ZELLIGE_ANYWHERE int min(int x, int y) { return x < y ? x : y; }

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

}  // namespace zellige
