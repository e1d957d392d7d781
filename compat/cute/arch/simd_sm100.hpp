// CuTe's header for packed float instructions of SM100: CUTLASS's header if CUTLASS follows on the include path, else
// Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/simd_sm100.hpp>)
#include_next <cute/arch/simd_sm100.hpp>
#else
#include <zellige/atom/packed_float.hpp>
#endif
