// The sparse matrix instructions: CUTLASS's own, where it stands behind on the path; else nothing.
#pragma once
#if __has_include_next(<cute/atom/mma_traits_sm90_gmma_sparse_ext.hpp>)
#include_next <cute/atom/mma_traits_sm90_gmma_sparse_ext.hpp>
#endif
