// Declares functions that emulated kernels call through the tables Engine and AsyncEngine, and that are not defined
// beside the tables (calls.cpp, async_calls.cpp): those that make a thread wait (waiting.cpp), and those that issue an
// asynchronous copy (transfer.cpp); and the check of global memory that all of them share.
#pragma once
#include <cstring>

#include "emulate/cluster.hpp"

namespace zellige::emulate {

/// Returns the table of functions that emulated kernels call for asynchronous instructions (mbarriers, TMA, wgmma).
const AsyncEngine& async_engine();

/// A call from a kernel: the thread that makes it, the thread's block, and the place in the kernel.
struct Call {
  Call(Thread& t, Site at) : f(fiber(t)), b(*f.home), site(at) {}
  Fiber& f;
  Block& b;
  Site site;
};

/// Checks and records that thread `f` reads or writes the `bytes` bytes at `p`, in global memory: uninitialised bytes,
/// races, and accesses before griddep_wait. `verb`: what the thread does ("reads"), for the message.
template <bool writes>
inline void check_global(Fiber& f, Place p, unsigned bytes, const char* verb, Site site) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::ptrdiff_t at = p.p - p.region->begin;
  if (writes && state.flags) std::memset(state.flags + at, 1, bytes);
  if (!writes && state.flags && std::memchr(state.flags + at, 0, bytes))
    b.clash(f, f.index, *p.region, at, at + bytes, verb, site,
            {state.padded ? Clash::What::padding : Clash::What::unwritten});
  if (!b.known(f).time[b.cluster.previous]) b.early(f, *p.region, at, at + bytes, writes, site);
  if (!state.races) return;
  const Actor a = b.actor(f, site.address);
  const auto block = std::uint32_t(b.linear);
  if (Clash c = writes ? state.races->write(at, bytes, a, block) : state.races->read(at, bytes, a, block))
    b.clash_of_global(f, p, bytes, writes, site, c);
}

}  // namespace zellige::emulate

namespace zellige::emulate::calls {

/// Takes part in the warp collective `what`, with the operand at `in`. When all 32 lanes of the warp have
/// called it, calls the function Compute once, with its argument `compute`, for all lanes; this writes each
/// lane's result to the lane's `out`.
void meet(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
/// Waits until the lanes in `mask` of the thread's warp have arrived (__syncwarp).
void sync_warp(Thread&, unsigned mask);
/// Waits at barrier `id` until `threads` threads have arrived (PTX bar.sync). `threads` 0: all threads of the block.
void bar_sync(Thread&, unsigned id, unsigned threads);
/// Arrives at barrier `id` without waiting (PTX bar.arrive). `threads` 0: all threads of the block.
void bar_arrive(Thread&, unsigned id, unsigned threads);

// Functions of AsyncEngine; zellige/emulate/async.hpp describes them and their operands. They check the operands and
// the races. The bytes of loads are written when they complete (Cluster), those of stores when their thread waits
// (Block::finish_stores).
void check_map(Thread&, const TmaMap*, unsigned rank, const int* at);
void tma_load(Thread&, const TmaMap*, Place to, Place barrier, unsigned rank, const int* at,
              const std::uint16_t* offsets, unsigned mask);
void tma_store(Thread&, const TmaMap*, Place from, unsigned rank, const int* at, Reduction, bool im2col);
void bulk_load(Thread&, Place to, Place from, unsigned bytes, Place barrier, unsigned mask);
void bulk_store(Thread&, Place to, Place from, unsigned bytes, Reduction, Element);
void bulk_copy_cluster(Thread&, Place to, unsigned rank, Place from, unsigned bytes, Place barrier);
void store_async(Thread&, Place to, unsigned rank, std::uint32_t value, Place barrier);
void bulk_commit(Thread&);
void bulk_wait(Thread&, unsigned pending, bool read);

}  // namespace zellige::emulate::calls
