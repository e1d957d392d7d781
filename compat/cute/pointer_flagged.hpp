// CuTe's header for shared-memory layouts whose pointer is set later (smem_ptr_flag), extended to sparse
// elements.
#pragma once
#include <cute/pointer.hpp>
#include <cute/pointer_sparse.hpp>
#include <zellige/tensor/sparse_flag.hpp>
