// Declares the emulator's calls for asynchronous operations: mbarriers, TMA and bulk copies, WGMMA, clusters
// and programmatic dependent launch. The SM90 functions of <zellige/atom/> call them when a kernel is
// compiled for the emulator.
//
// The emulator runs each operation asynchronously to the thread that issues it. It reports an access before
// completion, a missing proxy fence, and a wait that never ends (docs/explanation/emulator.md).
#pragma once
#include "zellige/emulate/pointer.hpp"
#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

inline constexpr unsigned own_block = ~0u;  // in place of a rank in the cluster: the caller's own block
// flag of a mask: the low 16 bits are a set of ranks; without it: own block
inline constexpr unsigned multicast = 0x10000;
// flag of a mask: a load completes on the mbarrier in the first block of the destination's pair
inline constexpr unsigned of_pair = 0x20000;

/// The operands of one wgmma, as one of the 128 threads of the warpgroup passes them.
struct WgmmaCall {
  void* d;                  // the thread's accumulator registers
  const std::uint32_t* ra;  // the thread's four registers of A; null: A is in shared memory
  std::uint64_t a, b;       // shared memory descriptors; `a` is used only if ra is null
  const char* types;        // the part of the PTX mnemonic after N: "16.f32.f16.f16"
  unsigned n;
  bool saturate;    // integer results: .satfinite
  bool a_mn, b_mn;  // true: the operand is contiguous along M (or N), not along K
  bool accumulate;  // false: D = A B, true: D += A B
  int sign;         // 1, or -1 to subtract the product
};

/// What a fence makes visible to the asynchronous proxy: mbarriers that were initialised, or ordinary accesses to shared
/// memory, to global memory, or to both.
enum class ProxyFence : unsigned char { init, shared, global, both };

struct Tcgen05Engine;  // tcgen05.hpp

/// Table of the emulator engine's functions for asynchronous operations, which kernels call through the
/// inline functions of this header. The first argument is the running thread.
struct AsyncEngine {
  void (*fence_proxy)(Thread&, ProxyFence);
  unsigned (*smem_address)(Thread&, Place);
  Place (*mapa)(Thread&, Place, unsigned rank);
  void (*cluster_arrive)(Thread&, bool release);
  void (*cluster_wait)(Thread&);
  void (*mbarrier_init)(Thread&, Place, unsigned count);
  void (*mbarrier_inval)(Thread&, Place);
  void (*mbarrier_arrive)(Thread&, Place, unsigned rank, unsigned count, unsigned bytes);
  void (*mbarrier_complete_tx)(Thread&, Place, unsigned bytes);
  bool (*mbarrier_test_wait)(Thread&, Place, unsigned parity);
  void (*mbarrier_wait)(Thread&, Place, unsigned parity);
  void (*cp_async_mbarrier_arrive)(Thread&, Place);
  void (*check_map)(Thread&, const TmaMap*, unsigned rank, const int* at);
  void (*tma_load)(Thread&, const TmaMap*, Place to, Place barrier, unsigned rank, const int* at,
                   const std::uint16_t* offsets, unsigned mask);
  void (*tma_store)(Thread&, const TmaMap*, Place from, unsigned rank, const int* at, Reduction, bool im2col);
  void (*bulk_load)(Thread&, Place to, Place from, unsigned bytes, Place barrier, unsigned mask);
  void (*bulk_store)(Thread&, Place to, Place from, unsigned bytes, Reduction, Element);
  void (*bulk_copy_cluster)(Thread&, Place to, unsigned rank, Place from, unsigned bytes, Place barrier);
  void (*store_async)(Thread&, Place to, unsigned rank, std::uint32_t value, Place barrier);
  void (*bulk_commit)(Thread&);
  void (*bulk_wait)(Thread&, unsigned pending, bool read);
  void (*prefetch)(Thread&, Place, unsigned bytes, unsigned alignment);
  void (*wgmma)(Thread&, const WgmmaCall&);
  void (*wgmma_fence)(Thread&);
  void (*wgmma_commit)(Thread&);
  void (*wgmma_wait)(Thread&, unsigned pending);
  void (*setmaxnreg)(Thread&, unsigned registers, bool more);
  void (*griddep_wait)(Thread&);
  void (*griddep_launch_dependents)(Thread&);
  void (*check_descriptor)(Thread&, const char* field, unsigned bytes);
  const Tcgen05Engine* tcgen05;  // instructions of tensor memory
  void (*try_cancel)(Thread&, Place answer, Place barrier, bool to_all);
};

#define ZELLIGE_ASYNC(call, ...) \
  Thread& t = self();            \
  return t.engine->async->call(t __VA_OPT__(, ) __VA_ARGS__)

ZELLIGE_INLINE void fence_proxy(ProxyFence of) { ZELLIGE_ASYNC(fence_proxy, of); }
/// Returns the offset in bytes of `p` in this block's shared memory, as wgmma descriptors store it. Reports an
/// error of the kernel if `p` is not in the block's own shared memory or not at a multiple of 16.
ZELLIGE_INLINE unsigned smem_address(Place p) { ZELLIGE_ASYNC(smem_address, p); }
/// Reports an error of the kernel unless `bytes`, the value of the wgmma descriptor's field `field`, is a
/// multiple of 16 below 2^18.
ZELLIGE_INLINE void check_descriptor(const char* field, unsigned bytes) {
  if (bytes % 16 == 0 && bytes < 1u << 18) return;
  ZELLIGE_ASYNC(check_descriptor, field, bytes);
}
/// Returns the id of the tensor that contains `tile`, shifted to bits 52 to 61 of a wgmma descriptor. By this
/// id, the emulator detects a wgmma that reads beyond the tensor. The hardware ignores these bits.
ZELLIGE_INLINE unsigned long tensor_bits(Place tile) {
  return static_cast<unsigned long>(tile.region->id & 0x3ff) << 52;
}
/// Returns `p` with its byte offset in the block's shared memory replaced by the swizzled offset.
template <class T, class Swizzle>
ZELLIGE_INLINE pointer<T> swizzle_address(pointer<T> p, Swizzle) {
  const std::size_t within = reinterpret_cast<std::size_t>(p.p) % 16;
  const Place chunk{(unsigned char*)p.p - within, p.region};
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(smem_address(chunk) + within);
  return p + (static_cast<std::ptrdiff_t>(Swizzle::apply(at)) - at) / static_cast<std::ptrdiff_t>(sizeof(T));
}
/// Returns a pointer to the same offset as that of `p`, but in the shared memory of block `rank` of the
/// cluster (PTX mapa).
template <class T>
ZELLIGE_INLINE pointer<T> in_block(pointer<T> p, unsigned rank) {
  Thread& t = self();
  const Place there = t.engine->async->mapa(t, p, rank);
  return {reinterpret_cast<T*>(there.p), there.region};
}
ZELLIGE_INLINE void cluster_arrive(bool release) { ZELLIGE_ASYNC(cluster_arrive, release); }
ZELLIGE_INLINE void cluster_wait() { ZELLIGE_ASYNC(cluster_wait); }

ZELLIGE_INLINE void mbarrier_init(Place b, unsigned count) { ZELLIGE_ASYNC(mbarrier_init, b, count); }
ZELLIGE_INLINE void mbarrier_inval(Place b) { ZELLIGE_ASYNC(mbarrier_inval, b); }
/// Arrives `count` times at the mbarrier at the offset of `b` in block `rank` of the cluster (own_block: this
/// block), and announces `bytes` more bytes (PTX expect_tx).
ZELLIGE_INLINE void mbarrier_arrive(Place b, unsigned rank, unsigned count, unsigned bytes) {
  ZELLIGE_ASYNC(mbarrier_arrive, b, rank, count, bytes);
}
/// Counts `bytes` bytes as arrived at the mbarrier (PTX mbarrier.complete_tx), as a completed copy does.
ZELLIGE_INLINE void mbarrier_complete_tx(Place b, unsigned bytes) { ZELLIGE_ASYNC(mbarrier_complete_tx, b, bytes); }
/// Returns true if the phase with this parity of the mbarrier `b` has ended. If it has not, lets other
/// threads run before it returns.
ZELLIGE_INLINE bool mbarrier_test_wait(Place b, unsigned parity) { ZELLIGE_ASYNC(mbarrier_test_wait, b, parity); }
ZELLIGE_INLINE void mbarrier_wait(Place b, unsigned parity) { ZELLIGE_ASYNC(mbarrier_wait, b, parity); }
/// Completes this thread's cp.async copies and arrives at the mbarrier `b`, both during the call. (The PTX
/// instruction returns at once, and arrives when the copies are complete.)
ZELLIGE_INLINE void cp_async_mbarrier_arrive(Place b) { ZELLIGE_ASYNC(cp_async_mbarrier_arrive, b); }

ZELLIGE_INLINE void check_tma_descriptor(const void* map) {
  ZELLIGE_ASYNC(check_map, static_cast<const TmaMap*>(map), 0, nullptr);
}
/// Starts a TMA load of the box at the coordinates `at` into the tile `to`, to complete on the mbarrier
/// `barrier`. `rank`: number of dimensions of the tensor. `offsets`: filter offsets for an im2col map, else
/// null. `mask`: 0 loads into this block; `multicast` combined with a bit mask loads into the cluster's
/// blocks of these ranks.
ZELLIGE_INLINE void tma_load(const void* map, Place to, Place barrier, unsigned rank, const int* at,
                             const std::uint16_t* offsets, unsigned mask) {
  ZELLIGE_ASYNC(tma_load, static_cast<const TmaMap*>(map), to, barrier, rank, at, offsets, mask);
}
/// Starts a TMA store (Reduction::none) or reduction from the tile `from` to the box at the coordinates `at`.
/// `rank`: number of dimensions of the tensor. `im2col`: true for an im2col map.
ZELLIGE_INLINE void tma_store(const void* map, Place from, unsigned rank, const int* at, Reduction reduction,
                              bool im2col) {
  ZELLIGE_ASYNC(tma_store, static_cast<const TmaMap*>(map), from, rank, at, reduction, im2col);
}
ZELLIGE_INLINE void tma_prefetch(const void* map, unsigned rank, const int* at) {
  ZELLIGE_ASYNC(check_map, static_cast<const TmaMap*>(map), rank, at);
}
ZELLIGE_INLINE void bulk_load(Place to, Place from, unsigned bytes, Place barrier, unsigned mask) {
  ZELLIGE_ASYNC(bulk_load, to, from, bytes, barrier, mask);
}
ZELLIGE_INLINE void bulk_store(Place to, Place from, unsigned bytes, Reduction reduction, Element element) {
  ZELLIGE_ASYNC(bulk_store, to, from, bytes, reduction, element);
}
ZELLIGE_INLINE void bulk_copy_cluster(Place to, unsigned rank, Place from, unsigned bytes, Place barrier) {
  ZELLIGE_ASYNC(bulk_copy_cluster, to, rank, from, bytes, barrier);
}
/// Writes `value` asynchronously to the shared memory of block `rank` of the cluster, at the offset of `to`.
/// The 4 bytes complete on the mbarrier in that block at the offset of `barrier`.
ZELLIGE_INLINE void store_async(Place to, unsigned rank, std::uint32_t value, Place barrier) {
  ZELLIGE_ASYNC(store_async, to, rank, value, barrier);
}
ZELLIGE_INLINE void bulk_commit() { ZELLIGE_ASYNC(bulk_commit); }
/// Waits until at most the newest `pending` bulk groups of the thread are incomplete. With `read`, waits only
/// until all older groups have read shared memory (PTX cp.async.bulk.wait_group.read).
ZELLIGE_INLINE void bulk_wait(unsigned pending, bool read) { ZELLIGE_ASYNC(bulk_wait, pending, read); }
/// Emulates a prefetch of `bytes` bytes at `p` to L2, which has no effect on the emulator. Reports an error
/// of the kernel unless `p` is in global memory, and `p` and `bytes` are multiples of `alignment`. If
/// `alignment` is 1, checks nothing.
ZELLIGE_INLINE void prefetch(Place p, unsigned bytes, unsigned alignment) {
  ZELLIGE_ASYNC(prefetch, p, bytes, alignment);
}

ZELLIGE_INLINE void wgmma(const WgmmaCall& call) { ZELLIGE_ASYNC(wgmma, call); }
ZELLIGE_INLINE void wgmma_fence() { ZELLIGE_ASYNC(wgmma_fence); }
ZELLIGE_INLINE void wgmma_commit() { ZELLIGE_ASYNC(wgmma_commit); }
ZELLIGE_INLINE void wgmma_wait(unsigned pending) { ZELLIGE_ASYNC(wgmma_wait, pending); }
/// Changes the warp's registers per thread to `registers`. `more` true: allocates registers (PTX
/// setmaxnreg.inc), and waits until other warps have released enough; false: releases them (setmaxnreg.dec).
ZELLIGE_INLINE void setmaxnreg(unsigned registers, bool more) { ZELLIGE_ASYNC(setmaxnreg, registers, more); }

// Waits for the preceding kernel on the stream (PTX griddepcontrol.wait). The emulator runs kernels one after
// another, each to its end; it reports global memory accesses that a thread makes before this call.
ZELLIGE_INLINE void griddep_wait() { ZELLIGE_ASYNC(griddep_wait); }
/// Allows the next kernel on the stream to start (PTX griddepcontrol.launch_dependents). The emulator only
/// counts the call.
ZELLIGE_INLINE void griddep_launch_dependents() { ZELLIGE_ASYNC(griddep_launch_dependents); }

#undef ZELLIGE_ASYNC

}  // namespace zellige::emulate
