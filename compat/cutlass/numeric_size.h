// CUTLASS's header for sizeof_bits; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/numeric_size.h>)
#include_next <cutlass/numeric_size.h>
#else
#include <cutlass/numeric_types.h>
#endif
