// Layout and its algebra.
#pragma once
#include <cute/numeric/arithmetic_tuple.hpp>
#include <cute/numeric/integral_ratio.hpp>
#include <cute/numeric/numeric_types.hpp>
#include <cute/stride.hpp>
#include <cute/swizzle.hpp>
#include <cute/underscore.hpp>
#include <zellige/layout.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/layout/print.hpp>
#endif
