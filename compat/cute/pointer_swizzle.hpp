// CuTe's header for swizzle_ptr, pointers whose addresses are swizzled.
#pragma once
#include <cute/pointer_base.hpp>
#include <zellige/tensor/swizzle_ptr.hpp>
