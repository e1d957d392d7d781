// CuTe's header for im2col TMA traits of SM100: CUTLASS's header if CUTLASS follows on the include path, else
// Zellige's own.
#pragma once
#if __has_include_next(<cute/atom/copy_traits_sm100_im2col.hpp>)
#include_next <cute/atom/copy_traits_sm100_im2col.hpp>
#else
#include <cute/atom/copy_traits_sm90_im2col.hpp>
#include <zellige/atom/tma_im2col_operands.hpp>
#endif
