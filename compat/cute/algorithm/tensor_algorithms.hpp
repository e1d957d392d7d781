// CuTe's header for for_each and transform of tensors; adds the lazy transform.
#pragma once
#include <cute/tensor_impl.hpp>

namespace zellige {

/// Returns transform_iter with CuTe's order of arguments: the function first.
template <class F, class It>
requires(!dereferenceable<F> && dereferenceable<It>) CUTE_HOST_DEVICE
    constexpr auto make_transform_iter(F const& f, It const& it) {
  return transform_iter<It, F>{it, f};
}
namespace lazy {
/// Returns the tensor of f(element); each element is computed when it is read.
template <tensor_like X, class F>
CUTE_HOST_DEVICE constexpr auto transform(X const& x, F const& f) {
  return make_tensor(make_transform_iter(f, x.data()), x.layout());
}
}  // namespace lazy

}  // namespace zellige
