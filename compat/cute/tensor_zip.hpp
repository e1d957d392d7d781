// CuTe's header for make_zip_tensor: several tensors as one.
#pragma once
#include <cute/tensor_impl.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {

template <class L>
struct is_zip_layout : false_type {};
template <class... L>
struct is_zip_layout<ZipLayout<L...>> : true_type {};

}  // namespace zellige
