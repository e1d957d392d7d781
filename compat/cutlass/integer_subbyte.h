// CUTLASS's header for integers smaller than a byte; includes <cutlass/numeric_types.h>.
#pragma once
#if __has_include_next(<cutlass/integer_subbyte.h>)
#include_next <cutlass/integer_subbyte.h>
#else
#include <cutlass/numeric_types.h>
#endif
