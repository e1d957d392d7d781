// CuTe's header for gemm on tensors, with MMA_Atoms too.
#pragma once
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor_impl.hpp>
