// Instructions of SM100 and SM120: CUTLASS's headers, if they follow on the include path; else nothing.
#pragma once
#include <cute/atom/mma_traits_sm80.hpp>
#if __has_include_next(<cute/atom/mma_traits_sm120.hpp>)
#include <cute/arch/mma_sm120_sparse.hpp>
#include_next <cute/atom/mma_traits_sm120.hpp>
#endif
