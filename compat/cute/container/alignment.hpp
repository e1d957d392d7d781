// CuTe's header for is_byte_aligned and aligned_struct.
#pragma once
#include <cute/numeric/int.hpp>
#include <zellige/container/alignment.hpp>

#define CUTE_ALIGNAS(n) alignas(n)
