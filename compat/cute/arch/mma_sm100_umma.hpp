// CuTe's header for UMMA instructions of SM100. Includes CUTLASS's header if CUTLASS follows on the include
// path, else it is empty.
#pragma once
#if __has_include_next(<cute/arch/mma_sm100_umma.hpp>)
#include_next <cute/arch/mma_sm100_umma.hpp>
#endif
