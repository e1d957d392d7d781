// Issues TMA copies, bulk copies and store_async: checks their operands and races. The bytes of loads are
// written when they complete (Cluster), those of stores when their thread waits (Block::finish_stores).
#pragma once
#include "emulate/cluster.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate::transfer {

/// Returns true if `map` is a TMA map that the launch passes as a parameter, for tensors of `rank` dimensions
/// (0: any); else reports it. `what` names the instruction.
bool check_map(Fiber&, const TmaMap*, unsigned rank, const char* what, Site);

/// Returns true if the hardware accepts the coordinates (coordinate_error in box.hpp); else reports it.
bool check_coordinates(Fiber&, const TmaMap&, const int* at, bool stores, const char* what, Site);

/// Issue an asynchronous copy, with the operands of the function of the same name in
/// zellige/emulate/async.hpp. Invalid operands are reported.
void tma_load(Fiber&, const TmaMap&, Place to, Place barrier, const int* at, const std::uint16_t* offsets,
              unsigned mask, Site);
void tma_store(Fiber&, const TmaMap&, Place from, const int* at, Reduction, Site);
void bulk_load(Fiber&, Place to, Place from, unsigned bytes, Place barrier, unsigned mask, Site);
void bulk_store(Fiber&, Place to, Place from, unsigned bytes, Reduction, Element, Site);
void copy_to_cluster(Fiber&, Place to, unsigned rank, Place from, unsigned bytes, Place barrier, Site);
void store_async(Fiber&, Place to, unsigned rank, std::uint32_t value, Place barrier, Site);

/// Execute cp.async.bulk.commit_group and wait_group. read: wait only until shared memory has been read.
void commit(Fiber&);
void wait(Fiber&, unsigned pending, bool read);

/// Check and record that an asynchronous copy, issued by this thread, accesses bytes of a tensor in global
/// memory.
void read_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);
void write_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);

}  // namespace zellige::emulate::transfer
