// CuTe's header for MMA traits of SM120: CUTLASS's header if CUTLASS follows on the include path, else Zellige's
// instructions.
#pragma once
#include <cute/atom/mma_traits_sm80.hpp>
#if __has_include_next(<cute/atom/mma_traits_sm120.hpp>)
#include <cute/arch/mma_sm120_sparse.hpp>
#include_next <cute/atom/mma_traits_sm120.hpp>
#else
#include <zellige/atom/narrow_mma_call.hpp>
#endif
