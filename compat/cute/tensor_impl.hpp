// CuTe's header for Tensor: construction, slicing, tiling and partitioning.
#pragma once
#include <cute/algorithm/functional.hpp>
#include <cute/layout.hpp>
#include <cute/pointer.hpp>
#include <cute/util/print_tensor.hpp>
#include <zellige/tensor.hpp>
