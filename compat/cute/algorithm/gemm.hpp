// gemm, with instructions too.
#pragma once
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor_impl.hpp>
