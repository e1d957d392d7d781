// Includes the PTX-level TMA calls: asynchronous copies of boxes of 1 to 5 dimensions between global and shared memory.
// A TmaDescriptor describes the tensor. Coordinates are in elements, the innermost dimension first. Elements outside
// the tensor are read as zeros and not written.
//
//   mbarrier_arrive_expect_tx(full, box_bytes);           // all bytes of the box, including those outside
//   tma_load_2d(tile, map, full, column, row);
//   tma_load_multicast_2d(tile, map, full, 0b11, column, row);    // into both blocks of a cluster of two
//
//   fence_proxy_async();                                  // by the writers of the tile, then a barrier
//   tma_store_2d(map, tile, column, row);
//   tma_store_commit();                                   // closes a bulk group of this thread's stores
//   tma_store_wait_read<0>();                             // the tile may be overwritten
//   tma_store_wait_complete<0>();                         // the result is visible
//
// Called by one thread. Tiles are aligned to 128 bytes; with a swizzle of 32, 64 or 128 bytes, to 8 times that (1024
// bytes for b128).
#pragma once

#include <zellige/atom/bulk_copy.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/tma_load.hpp>
#include <zellige/atom/tma_store.hpp>
