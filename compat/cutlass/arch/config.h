// Macros for the toolkit's capabilities: CUTLASS_ARCH_MMA_SM90_SUPPORTED if it supports Hopper;
// CUTLASS_ARCH_MMA_SM90_ENABLED and _SM90A_ENABLED in device code compiled for Hopper.
#pragma once
#if __has_include_next(<cutlass/arch/config.h>)
#include_next <cutlass/arch/config.h>
#else
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 12
#if !defined(CUTLASS_ARCH_MMA_SM90_SUPPORTED)
#define CUTLASS_ARCH_MMA_SM90_SUPPORTED 1
#endif
#if !defined(CUTLASS_ARCH_MMA_SM90_F64_MMA_SUPPORTED)
#define CUTLASS_ARCH_MMA_SM90_F64_MMA_SUPPORTED 1
#endif
#if !defined(CUTLASS_SM90_CLUSTER_LAUNCH_ENABLED)
#define CUTLASS_SM90_CLUSTER_LAUNCH_ENABLED
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#if !defined(CUTLASS_ARCH_MMA_SM90_ENABLED)
#define CUTLASS_ARCH_MMA_SM90_ENABLED 1
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(CUTLASS_ARCH_MMA_SM90A_ENABLED)
#define CUTLASS_ARCH_MMA_SM90A_ENABLED 1
#endif
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(CUTLASS_ARCH_MMA_SM90_F64_MMA_ENABLED)
#define CUTLASS_ARCH_MMA_SM90_F64_MMA_ENABLED 1
#endif
#endif

#if !defined(CUDA_BARRIER_ENABLED)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CUDA_BARRIER_ENABLED 1
#else
#define CUDA_BARRIER_ENABLED 0
#endif
#endif
#endif
