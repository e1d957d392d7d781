// Includes the PTX instructions as device functions: cp.async, ldmatrix, mma, shuffles, each family in a header
// of its own. The same calls compile with nvcc and NVRTC, and with g++ -DZELLIGE_EMULATE to run on the CPU
// emulator. Host code compiled without nvcc and without ZELLIGE_EMULATE gets only the number types and their
// conversions. <zellige/atom/instruction_table.hpp> describes the instructions as data, for the compiler's planner.
//
//   smem<half_t> tile = shared<half_t>("A", 0, 64 * 64);
//   cp_async<16>(tile + 8 * threadIdx.x, source + 8 * threadIdx.x);
//   cp_async_commit();
//   cp_async_wait<0>();
//   __syncthreads();
//   ldmatrix_x4(a, tile + ...);
//   mma_m16n8k16<half_t>(d, a, b);
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/cast.hpp>
#include <zellige/atom/convert.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/math.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/atom/vec.hpp>
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/access.hpp>
#include <zellige/atom/cp_async.hpp>
#include <zellige/atom/ldmatrix.hpp>
#include <zellige/atom/mma.hpp>
#include <zellige/atom/pointer.hpp>
#include <zellige/atom/shuffle.hpp>
#endif
