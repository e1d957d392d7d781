// CuTe's header for matrix instructions of SM120. Includes CUTLASS's header if CUTLASS follows on the include
// path, else it is empty.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120.hpp>)
#include_next <cute/arch/mma_sm120.hpp>
#endif
