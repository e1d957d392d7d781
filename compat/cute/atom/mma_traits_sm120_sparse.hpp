// CuTe's header for sparse MMA traits of SM120. Includes CUTLASS's header if CUTLASS follows on the include
// path, else it is empty.
#pragma once
#if __has_include_next(<cute/atom/mma_traits_sm120_sparse.hpp>)
#include_next <cute/atom/mma_traits_sm120_sparse.hpp>
#else
#include <zellige/atom/narrow_mma_call.hpp>
#endif
