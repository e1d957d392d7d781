// CuTe's header for MMA traits of SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/atom/mma_traits_sm100.hpp>)
#include_next <cute/atom/mma_traits_sm100.hpp>
#else
#include <zellige/atom/packed_float.hpp>
#include <zellige/atom/tcgen05.hpp>
#include <zellige/atom/umma.hpp>
#include <zellige/atom/umma_block.hpp>
#include <zellige/atom/umma_sparse.hpp>
#endif
