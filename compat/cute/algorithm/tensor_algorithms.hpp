// for_each and transform of tensors.
#pragma once
#include <cute/tensor_impl.hpp>
