// Tensors and all their algorithms.
#pragma once
#include <cutlass/array.h>

#include <cute/algorithm/axpby.hpp>
#include <cute/algorithm/clear.hpp>
#include <cute/algorithm/cooperative_copy.hpp>
#include <cute/algorithm/cooperative_gemm.hpp>
#include <cute/algorithm/copy.hpp>
#include <cute/algorithm/fill.hpp>
#include <cute/algorithm/gemm.hpp>
#include <cute/algorithm/prefer.hpp>
#include <cute/algorithm/prefetch.hpp>
#include <cute/algorithm/tensor_algorithms.hpp>
#include <cute/algorithm/tensor_reduce.hpp>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm80.hpp>
#include <cute/container/alignment.hpp>
#include <cute/numeric/complex.hpp>
#include <cute/pointer_flagged.hpp>
#include <cute/pointer_sparse.hpp>
#include <cute/pointer_swizzle.hpp>
#include <cute/tensor_impl.hpp>
#include <cute/tensor_zip.hpp>
#include <cute/util/print_latex.hpp>
#include <cute/util/print_tensor.hpp>
