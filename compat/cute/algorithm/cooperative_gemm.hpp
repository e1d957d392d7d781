// CuTe's header for cooperative_gemm: matmuls by all threads of a block, with a TiledMMA.
#pragma once
#include <cute/algorithm/copy.hpp>
#include <cute/algorithm/gemm.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/cooperative_gemm.hpp>
