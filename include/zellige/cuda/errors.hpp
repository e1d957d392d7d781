// The errors of CUDA's runtime API, with their names and what they say.
#pragma once

// Each error: its name, its number, and what cudaGetErrorString returns.
#define ZELLIGE_CUDA_ERRORS(X)                                                                                \
  X(cudaSuccess, 0, "no error")                                                                               \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                             \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                            \
  X(cudaErrorInitializationError, 3, "initialization error")                                                  \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                      \
  X(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                    \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                       \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                 \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                      \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                  \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                              \
  X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                 \
  X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                 \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")          \
  X(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                          \
  X(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches")              \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                            \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                             \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                    \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                       \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")         \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                    \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                 \
  X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                    \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                           \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                     \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                   \
  X(cudaErrorNotReady, 600, "device not ready")                                                               \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                 \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                            \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                   \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                 \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                   \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                     \
  X(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                 \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                               \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                    \
  X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")              \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                                                       \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                         \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                    \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                    \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")               \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")        \
  X(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                                 \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError_t : int {
#define ZELLIGE_ERROR(NAME, NUMBER, TEXT) NAME = NUMBER,
  ZELLIGE_CUDA_ERRORS(ZELLIGE_ERROR)
#undef ZELLIGE_ERROR
};
using cudaError = cudaError_t;

inline const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
#define ZELLIGE_ERROR(NAME, NUMBER, TEXT) \
  case NAME:                              \
    return #NAME;
    ZELLIGE_CUDA_ERRORS(ZELLIGE_ERROR)
#undef ZELLIGE_ERROR
  }
  return "unrecognized error code";
}
inline const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
#define ZELLIGE_ERROR(NAME, NUMBER, TEXT) \
  case NAME:                              \
    return TEXT;
    ZELLIGE_CUDA_ERRORS(ZELLIGE_ERROR)
#undef ZELLIGE_ERROR
  }
  return "unrecognized error code";
}
#undef ZELLIGE_CUDA_ERRORS
