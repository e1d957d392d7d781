// TMA and bulk copies at their issue. The data are written later (cluster.hpp), or at the thread's wait
// (in_flight.hpp).
#pragma once
#include "emulate/cluster.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate::transfer {

/// Checks that these are the bytes of a map for tensors of `rank` dimensions (0: any); reports it if not.
bool check_map(Fiber&, const TmaMap*, unsigned rank, const char* what, Site);

/// Checks that the hardware accepts the coordinates (box.hpp); reports it if not.
bool check_coordinates(Fiber&, const TmaMap&, const int* at, bool stores, const char* what, Site);

void tma_load(Fiber&, const TmaMap&, Place to, Place barrier, const int* at, const std::uint16_t* offsets,
              unsigned mask, Site);
void tma_store(Fiber&, const TmaMap&, Place from, const int* at, Reduction, Site);
void bulk_load(Fiber&, Place to, Place from, unsigned bytes, Place barrier, unsigned mask, Site);
void bulk_store(Fiber&, Place to, Place from, unsigned bytes, Reduction, Element, Site);
void copy_to_cluster(Fiber&, Place to, unsigned rank, Place from, unsigned bytes, Place barrier, Site);
void store_async(Fiber&, Place to, unsigned rank, std::uint32_t value, Place barrier, Site);

void commit(Fiber&);
void wait(Fiber&, unsigned pending, bool read);

/// Checks an access of the asynchronous proxy to a range of global memory, as its issuer's.
void read_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);
void write_global(Fiber&, const Region&, std::size_t at, std::size_t bytes, Site);

}  // namespace zellige::emulate::transfer
