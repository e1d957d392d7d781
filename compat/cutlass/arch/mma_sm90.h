// Defines CUTLASS_ARCH_MMA_SM90_SUPPORTED. The instructions are CuTe's atoms; cutlass::arch::Mma of CUTLASS 2
// is not provided.
#pragma once
#if __has_include_next(<cutlass/arch/mma_sm90.h>)
#include_next <cutlass/arch/mma_sm90.h>
#else
#include <cutlass/arch/arch.h>
#include <cutlass/numeric_types.h>
#endif
