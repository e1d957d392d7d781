// CuTe's header for TMA instructions of SM100, the loads of pairs of CTAs: CUTLASS's header if CUTLASS follows on the
// include path, else Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/copy_sm100_tma.hpp>)
#include_next <cute/arch/copy_sm100_tma.hpp>
#else
#include <zellige/atom/tma_pair.hpp>
#endif
