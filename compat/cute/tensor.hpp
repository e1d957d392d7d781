// Tensors and all their algorithms.
#pragma once
#include <cutlass/array.h>

#include <cute/algorithm/tensor_algorithms.hpp>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm80.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/numeric/complex.hpp>
#include <cute/pointer_sparse.hpp>
#include <cute/pointer_swizzle.hpp>
#include <cute/tensor_impl.hpp>
#include <cute/tensor_zip.hpp>
#include <cute/util/print_latex.hpp>
