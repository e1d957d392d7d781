// CuTe's header for sparse wgmma instructions with less frequent N. Includes CUTLASS's header if CUTLASS
// follows on the include path, else it is empty.
#pragma once
#if __has_include_next(<cute/arch/mma_sm90_gmma_sparse_ext.hpp>)
#include_next <cute/arch/mma_sm90_gmma_sparse_ext.hpp>
#endif
