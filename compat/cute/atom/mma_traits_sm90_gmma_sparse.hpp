// CuTe's header for the traits of sparse wgmma. Includes CUTLASS's header if CUTLASS follows on the include
// path, else it is empty.
#pragma once
#if __has_include_next(<cute/atom/mma_traits_sm90_gmma_sparse.hpp>)
#include_next <cute/atom/mma_traits_sm90_gmma_sparse.hpp>
#endif
