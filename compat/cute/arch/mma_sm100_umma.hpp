// CuTe's header for UMMA instructions of SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/mma_sm100_umma.hpp>)
#include_next <cute/arch/mma_sm100_umma.hpp>
#else
#include <zellige/atom/umma.hpp>
#include <zellige/atom/umma_block.hpp>
#include <zellige/atom/umma_sparse.hpp>
#endif
