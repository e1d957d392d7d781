// for_each and transform of tensors; a lazy transform.
#pragma once
#include <cute/tensor_impl.hpp>

namespace zellige {

/// CuTe's argument order: the function first.
template <class F, class It>
requires(!dereferenceable<F> && dereferenceable<It>) CUTE_HOST_DEVICE
    constexpr auto make_transform_iter(F const& f, It const& it) {
  return transform_iter<It, F>{it, f};
}
namespace lazy {
/// The tensor of f applied to the elements, each computed when it is read.
template <tensor_like X, class F>
CUTE_HOST_DEVICE constexpr auto transform(X const& x, F const& f) {
  return make_tensor(make_transform_iter(f, x.data()), x.layout());
}
}  // namespace lazy

}  // namespace zellige
