// CuTe's header for Swizzle and MixedBits.
#pragma once
#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout.hpp>
#include <zellige/layout/mixed_bits.hpp>
