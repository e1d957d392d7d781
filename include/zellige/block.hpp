// Includes the device library that generated kernels call: tiles in shared and global memory, matrix products on
// register fragments, reductions.
//
//   auto sA = shared_tile<half_t, Layout<Shape<_16, _64>, Stride<_64, _1>>>("A", 0, 1024);  // at byte 0, 1024 elements
//   cp_async<16>(sA(row, column), gA(row, column));
//   cp_async_commit(), cp_async_wait<0>(), __syncthreads();
//   Fragment<1, 16, 64, 1, 1, 4> d;                  // one 16 x 64 matrix, divided among 4 warps along N
//   d.clear();
//   multiply<half_t, 64, true, false>(d, sA, sB, warp, lane);    // d += A B, K = 64; A is K-contiguous, B is not
#pragma once
#include <zellige/atom.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/load_anywhere.hpp>
#include <zellige/block/multiply.hpp>
#include <zellige/block/multiply_outer.hpp>
#include <zellige/block/reduce.hpp>
#include <zellige/block/tile.hpp>
#include <zellige/layout/composed.hpp>
