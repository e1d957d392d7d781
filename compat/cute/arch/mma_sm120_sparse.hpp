// CuTe's header for sparse matrix instructions of SM120. Includes CUTLASS's header if CUTLASS follows on the
// include path, else it is empty.
#pragma once
#if __has_include_next(<cute/arch/mma_sm120_sparse.hpp>)
#include_next <cute/arch/mma_sm120_sparse.hpp>
#endif
