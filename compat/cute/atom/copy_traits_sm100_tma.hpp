// CuTe's header for TMA traits of SM100: CUTLASS's header if CUTLASS follows on the include path, else
// Zellige's own.
#pragma once
#if __has_include_next(<cute/atom/copy_traits_sm100_tma.hpp>)
#include_next <cute/atom/copy_traits_sm100_tma.hpp>
#else
#include <zellige/atom/tma_pair.hpp>
#endif
