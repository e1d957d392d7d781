// CuTe's header for matrix descriptors of SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/mma_sm100_desc.hpp>)
#include_next <cute/arch/mma_sm100_desc.hpp>
#else
#include <zellige/atom/umma_descriptor.hpp>
#endif
