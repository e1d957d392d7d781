// print_tensor.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {

template <class Stream, tensor_like X>
CUTE_HOST Stream& print_tensor_os(Stream& os, X const& x) {
  return os << x;
}

}  // namespace zellige
