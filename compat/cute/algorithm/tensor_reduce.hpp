// CuTe's header for reductions of tensors: reduce, batch_reduce, logical_reduce.
#pragma once
#include <cute/tensor_impl.hpp>
