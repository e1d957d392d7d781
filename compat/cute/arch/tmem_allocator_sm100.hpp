// CuTe's header for the allocation of tensor memory on SM100: CUTLASS's header if CUTLASS follows on the include path,
// else Zellige's own.
#pragma once
#if __has_include_next(<cute/arch/tmem_allocator_sm100.hpp>)
#include_next <cute/arch/tmem_allocator_sm100.hpp>
#else
#include <zellige/atom/tcgen05.hpp>
#endif
