// Issues TMA copies, bulk copies and store_async: checks their operands and races. The bytes of loads are
// written when they complete (Cluster), those of stores when their thread waits (Block::finish_stores).
#pragma once
#include "emulate/cluster.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate::transfer {

/// Returns true if `map` is a TMA map that the launch passes as a parameter, for tensors of `rank` dimensions (0: any);
/// otherwise reports a finding (an error in the kernel) and returns false. `what` names the instruction.
bool check_map(Fiber&, const TmaMap*, unsigned rank, const char* what, Site);

/// Returns true if the hardware accepts the coordinates `at` of a TMA load (or store, if `stores`; see coordinate_error
/// in box.hpp); otherwise reports a finding (an error in the kernel) and returns false. `what` names the instruction.
bool check_coordinates(Fiber&, const TmaMap&, const int* at, bool stores, const char* what, Site);

/// The following functions issue an asynchronous copy, with the operands of the functions in
/// zellige/emulate/async.hpp; they report invalid operands.
///
/// Issues a TMA load of the box at the coordinates `at` into the tile `to`, to complete on the mbarrier
/// `barrier`. `offsets`: filter offsets for an im2col map, else null. `mask`: 0 loads into this block;
/// `multicast` combined with a bit mask loads into the cluster's blocks of these ranks.
void tma_load(Fiber&, const TmaMap&, Place to, Place barrier, const int* at, const std::uint16_t* offsets,
              unsigned mask, Site);
/// Issues a TMA store or reduction from the tile `from` to the box at the coordinates `at`. `im2col`: the kernel
/// calls the instruction's variant for im2col maps.
void tma_store(Fiber&, const TmaMap&, Place from, const int* at, Reduction, bool im2col, Site);
/// Issues a bulk load of `bytes` bytes from global memory to shared memory, to complete on the mbarrier
/// `barrier`. `mask`: the blocks into which it loads, as for tma_load.
void bulk_load(Fiber&, Place to, Place from, unsigned bytes, Place barrier, unsigned mask, Site);
/// Issues a bulk store or reduction of `bytes` bytes from shared memory to global memory.
void bulk_store(Fiber&, Place to, Place from, unsigned bytes, Reduction, Element, Site);
/// Issues a bulk copy from this block's shared memory to that of block `rank` of the cluster, at the offset
/// of `to`. It completes on the mbarrier in that block at the offset of `barrier`.
void copy_to_cluster(Fiber&, Place to, unsigned rank, Place from, unsigned bytes, Place barrier, Site);
/// Issues an asynchronous store of `value` to the shared memory of block `rank` of the cluster, at the offset
/// of `to`. It completes on the mbarrier in that block at the offset of `barrier`.
void store_async(Fiber&, Place to, unsigned rank, std::uint32_t value, Place barrier, Site);

/// Commits the thread's bulk stores as a group (PTX cp.async.bulk.commit_group).
void commit(Fiber&);
/// Waits until at most the newest `pending` bulk groups are incomplete (PTX cp.async.bulk.wait_group). read:
/// waits only until older groups have read shared memory.
void wait(Fiber&, unsigned pending, bool read);

/// Check and record that an asynchronous copy, issued by this thread, reads or writes the `bytes` bytes at byte offset
/// `at` of a tensor in global memory.
void read_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);
void write_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);

}  // namespace zellige::emulate::transfer
