// CuTe's header for print_tensor; adds print_tensor_os, which writes to a stream.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {

template <class Stream, tensor_like X>
CUTE_HOST Stream& print_tensor_os(Stream& os, X const& x) {
  return os << x;
}

}  // namespace zellige
