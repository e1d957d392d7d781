// CuTe's header for sparse_ptr, pointers to structured-sparse elements.
#pragma once
#include <cute/pointer_base.hpp>
#include <zellige/tensor/sparse.hpp>
