// CuTe's header for matrix instructions of SM120: CUTLASS's header if CUTLASS follows on the include path, else
// Zellige's instructions.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120.hpp>)
#include_next <cute/arch/mma_sm120.hpp>
#else
#include <zellige/atom/narrow_mma_call.hpp>
#endif
