// CUTLASS's header for uint128_t; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/uint128.h>)
#include_next <cutlass/uint128.h>
#else
#include <cutlass/numeric_types.h>
#endif
