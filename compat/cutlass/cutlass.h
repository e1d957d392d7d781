// CUTLASS's base header, as far as code on CuTe needs it: macros, and the status that functions return.
#pragma once
#if __has_include_next(<cutlass/cutlass.h>)
#include_next <cutlass/cutlass.h>

#include <cutlass/detail/helper_macros.hpp>
#else
#include <cutlass/detail/helper_macros.hpp>

namespace cutlass {

enum class Status {
  kSuccess,
  kErrorMisalignedOperand,
  kErrorInvalidDataType,
  kErrorInvalidLayout,
  kErrorInvalidProblem,
  kErrorNotSupported,
  kErrorWorkspaceNull,
  kErrorInternal,
  kErrorArchMismatch,
  kErrorInsufficientDriver,
  kErrorMemoryAllocation,
  kInvalid
};
inline constexpr int NumThreadsPerWarp = 32;
inline constexpr int NumThreadsPerWarpGroup = 128;
inline constexpr int NumWarpsPerWarpGroup = 4;

}  // namespace cutlass
#endif
