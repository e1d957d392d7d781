// print and pretty_print.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/write.hpp>

namespace zellige {

/// The number of decimal digits of a number, without the minus.
CUTE_HOST_DEVICE constexpr int num_digits(int x) {
  int digits = 1;
  for (x /= 10; x != 0; x /= 10) ++digits;
  return digits;
}

}  // namespace zellige
