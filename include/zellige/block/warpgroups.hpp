// Includes what emitted warp-specialized kernels need in addition to block.hpp: warp roles, shared-memory rings, TMA
// and wgmma.
//
//   roles(consumer<8, 232>([&] { ... ring.wait(at), issue_wgmma<half_t, 4>(d, a, b), ring.release(at) ... }),
//         producer<4, 40>([&] { ... tma_load_2d(ring.tile(at), map, ring.acquire(at), x, y) ... }));
#pragma once
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/exchange.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/ring.hpp>
#include <zellige/block/roles.hpp>
#include <zellige/block/tile_scheduler.hpp>
