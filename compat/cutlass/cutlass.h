// CUTLASS's base header as far as CuTe code needs it: macros, Status, and thread, warp and warpgroup indices.
#pragma once
#if __has_include_next(<cutlass/cutlass.h>)
#include_next <cutlass/cutlass.h>
#else
#include <cutlass/arch/config.h>

#include <cutlass/detail/helper_macros.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/shuffle.hpp>
#endif

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
/// Returns a short description of a status.
CUTLASS_HOST_DEVICE char const* cutlassGetStatusString(Status status) {
  switch (status) {
    case Status::kSuccess:
      return "success";
    case Status::kErrorMisalignedOperand:
      return "misaligned operand";
    case Status::kErrorInvalidDataType:
      return "invalid data type";
    case Status::kErrorInvalidLayout:
      return "invalid layout";
    case Status::kErrorInvalidProblem:
      return "invalid problem";
    case Status::kErrorNotSupported:
      return "not supported";
    case Status::kErrorWorkspaceNull:
      return "no workspace";
    case Status::kErrorInternal:
      return "internal error";
    case Status::kErrorArchMismatch:
      return "compiled for another architecture";
    case Status::kErrorInsufficientDriver:
      return "driver too old";
    case Status::kErrorMemoryAllocation:
      return "out of memory";
    case Status::kInvalid:
      break;
  }
  return "invalid";
}

// Constants for host and device.
static constexpr int NumThreadsPerWarp = 32;
static constexpr int NumThreadsPerWarpGroup = 128;
static constexpr int NumWarpsPerWarpGroup = 4;
static constexpr int NumThreadsPerHalfWarp = 16;
static constexpr int NumThreadsPerQuad = 4;
static constexpr int NumThreadsPerQuadPair = 8;

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
/// Returns this thread's lane, by threadIdx.x. canonical_warp_idx and canonical_warp_group_idx return its
/// warp and warpgroup. The functions ..._sync and the warpgroup's return a value that the compiler knows to
/// be warp-uniform; all threads of the warp must call them.
CUTLASS_DEVICE int canonical_lane_idx() { return int(threadIdx.x % NumThreadsPerWarp); }
CUTLASS_DEVICE int canonical_warp_idx() { return int(threadIdx.x / NumThreadsPerWarp); }
CUTLASS_DEVICE int canonical_warp_idx_sync() { return zellige::shfl_idx(int(threadIdx.x / NumThreadsPerWarp), 0); }
CUTLASS_DEVICE int canonical_warp_group_idx() {
  return zellige::shfl_idx(int(threadIdx.x / NumThreadsPerWarpGroup), 0);
}
/// True in the first thread of the first block.
CUTLASS_DEVICE bool thread0() {
  return threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0;
}
#endif

}  // namespace cutlass
#endif
