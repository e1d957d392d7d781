// The sparse matrix instructions: CUTLASS's headers, if they follow on the include path; else nothing.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120_sparse.hpp>)
#include_next <cute/arch/mma_sm120_sparse.hpp>
#endif
