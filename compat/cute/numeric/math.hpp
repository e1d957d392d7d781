// CuTe's header for scalar functions: min, max, gcd, ceil_div, bit operations.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/bits.hpp>
