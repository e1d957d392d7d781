// Reductions of tensors.
#pragma once
#include <cute/tensor_impl.hpp>
