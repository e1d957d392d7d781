// CuTe's main header: tensors, layouts, and all their algorithms and instructions.
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

// Names of SM100 and SM120, which CuTe's header of this name declares: CUTLASS's headers, if CUTLASS follows
// on the include path. They take a quarter of the compile time of a unit that includes only this header;
// ZELLIGE_CUTE_WITHOUT_SM100 omits them.
#if !defined(ZELLIGE_CUTE_WITHOUT_SM100)
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/copy_traits_sm100_tma.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm120.hpp>
#include <cute/atom/mma_traits_sm120_sparse.hpp>
#endif
