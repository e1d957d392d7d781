// CuTe's header for print and pretty_print.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/write.hpp>

namespace zellige {

/// Returns the number of decimal digits of x, without its sign.
CUTE_HOST_DEVICE constexpr int num_digits(int x) {
  int digits = 1;
  for (x /= 10; x != 0; x /= 10) ++digits;
  return digits;
}

}  // namespace zellige
