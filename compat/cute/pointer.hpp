// CuTe's header for pointers tagged with their memory space: make_gmem_ptr, make_smem_ptr.
#pragma once
#include <cute/container/array_subbyte.hpp>
#include <cute/pointer_base.hpp>
#include <cute/pointer_swizzle.hpp>
#include <zellige/tensor/pointer.hpp>
