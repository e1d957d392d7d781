// CuTe's header for TMA in im2col mode, which loads operands of convolutions: make_im2col_tma_copy.
#pragma once
#include <cute/atom/copy_traits_sm90_tma.hpp>
#include <zellige/atom/tma_im2col.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/tma_im2col_call.hpp>
#endif
