// CuTe's header for sparse matrix instructions of SM120: CUTLASS's header if CUTLASS follows on the include path, else
// Zellige's instructions.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120_sparse.hpp>)
#include_next <cute/arch/mma_sm120_sparse.hpp>
#else
#include <zellige/atom/narrow_mma_call.hpp>
#endif
