// Tensors and all their algorithms.
#pragma once
#include <cute/numeric/complex.hpp>
#include <cute/tensor_impl.hpp>
#include <cute/tensor_zip.hpp>
#include <cute/util/print_latex.hpp>
