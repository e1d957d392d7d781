// Matmuls by a group of threads.
#pragma once
#include <cute/algorithm/copy.hpp>
#include <cute/algorithm/gemm.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/cooperative_gemm.hpp>
