// print and pretty_print.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/write.hpp>

namespace zellige {

/// How many decimal digits a number has, a minus aside.
CUTE_HOST_DEVICE constexpr int num_digits(int x) {
  int digits = 1;
  for (x /= 10; x != 0; x /= 10) ++digits;
  return digits;
}

}  // namespace zellige
