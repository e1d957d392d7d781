// CuTe's header for Tensor: construction, slicing, tiling and partitioning.
#pragma once
#include <cute/algorithm/functional.hpp>
#include <cute/layout.hpp>
#include <cute/pointer.hpp>
#include <cute/util/print_tensor.hpp>
#include <zellige/tensor.hpp>

namespace zellige {

/// Returns t, which is no tensor: of it no mode is asked for.
template <class T>
requires(!tensor_like<T>) CUTE_HOST_DEVICE constexpr T tensor(T const& t) { return t; }
/// Returns the tensor x, of which there is one (see layout_composed.hpp).
template <tensor_like X>
CUTE_HOST_DEVICE constexpr X reverse(X const& x) {
  return x;
}

}  // namespace zellige
