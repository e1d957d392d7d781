// Instructions of SM100 and SM120: CUTLASS's headers, if they follow on the include path; else nothing.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120.hpp>)
#include_next <cute/arch/mma_sm120.hpp>
#endif
