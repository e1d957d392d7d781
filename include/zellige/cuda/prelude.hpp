// CUDA's vocabulary for a program that `zellige emulate` compiles for the CPU. Every source is compiled with
// `-include zellige/cuda/prelude.hpp`, after its launches, `__shared__` declarations and device variables are written as
// C++ (src/cuda/rewrite.cpp):
//
//   add<<<grid, block>>>(x, n);       ::zellige::cuda::launch("add", [=](auto... p) { add(p...); }, Configuration(grid, block), x, n);
//   __shared__ float s[32];           struct S1 { ... float s[32]; }; auto& s = ::zellige::cuda::shared_variable<S1>().s;
//   extern __shared__ float d[];      float* d = ::zellige::cuda::dynamic_shared<float>("d");
//   __constant__ float c[9];          float c[9]; static DeviceVariable ...(c, MemoryKind::constant, "c");
#pragma once
// CUDA programs are C++17, and many have a lerp of their own, which C++20's std::lerp in <math.h> must not hide.
#define lerp zellige_lerp
#include <math.h>
#undef lerp
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_FEAT_SM90_ALL 1
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define ZELLIGE_CUDA_EMULATED 1
// By these, headers of programs know which of CUDA's they follow.
#define __DRIVER_TYPES_H__ 1
#define __CUDA_RUNTIME_H__ 1
#define __CUDA_RUNTIME_API_H__ 1
#define __VECTOR_TYPES_H__ 1
#if !defined(__clang__)
#define __builtin_assume(condition) static_cast<void>(0)
#endif

#include "zellige/cuda/arrays.hpp"
#include "zellige/cuda/conversions.hpp"
#include "zellige/cuda/cooperative_groups.hpp"
#include "zellige/cuda/driver.hpp"
#include "zellige/cuda/graphs.hpp"
#include "zellige/cuda/intrinsics.hpp"
#include "zellige/cuda/launch.hpp"
#include "zellige/cuda/math.hpp"
#include "zellige/cuda/pipeline.hpp"
#include "zellige/cuda/ptx.hpp"
#include "zellige/cuda/runtime.hpp"
#include "zellige/cuda/scopes.hpp"
#include "zellige/cuda/simd.hpp"
#include "zellige/cuda/textures.hpp"
#include "zellige/cuda/types.hpp"
