// Tensors side by side.
#pragma once
#include <cute/tensor_impl.hpp>
#include <zellige/tensor/zip.hpp>
