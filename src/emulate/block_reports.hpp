// Reports findings (errors in the kernel) about the state of a block: conflicting accesses, threads that do not converge,
// deadlocks, and what is unfinished when a block ends.
#pragma once
#include "emulate/block.hpp"

namespace zellige::emulate {

/// Reports that the access of thread `thread` to `bytes` bytes at the Place conflicts with the earlier access that the
/// Clash describes. `verb`: what the thread does ("reads"). `running`: the thread that runs, which in a warp collective
/// accesses memory for all lanes.
[[gnu::noinline, gnu::cold]] void clash(const Fiber& running, unsigned thread, Place, unsigned bytes, const char* verb,
                                        Site, const shadow::Clash&);
/// Makes stores by the running thread wait for their values, while the object lives. CUDA says that of stores of one instruction by
/// lanes of a warp to the same bytes one takes effect, so they are an error only if their values differ. A lane's value is known
/// once the lane goes on.
class PostponesStores {
 public:
  PostponesStores();
  ~PostponesStores();
  PostponesStores(const PostponesStores&) = delete;
  PostponesStores& operator=(const PostponesStores&) = delete;
};
/// Reports the store that waits, if it has changed what the other lane has stored. A thread that goes on after a store calls it.
void judge_postponed();

/// Like clash() for global memory, whose earlier accesses may be those of other blocks. `atomic`: the access is.
void clash_of_global(const Fiber& running, Place, unsigned bytes, const char* verb, Site, const shadow::Clash&,
                     bool atomic = false);
/// Records that a thread accesses bytes of a tensor in global memory before it has observed a griddep_wait. The access is
/// reported if this kernel turns out to depend on the previous kernel.
void early(const Fiber&, Place, unsigned bytes, bool writes, Site);
/// Checks an access to the shared memory of block `there` by thread `f`, which may be of another block of the cluster. If
/// the block has exited, reports a finding (an error in the kernel) and returns false. Otherwise returns true, and
/// records an access by another block. That is valid only if the block cannot exit before it: one of its threads
/// must have synchronized with the access, which check_departure() checks. `by_copy`: an asynchronous copy makes the
/// access; it is not recorded here, because check_departure() checks all copies. For the message: `verb` ("arrives at"),
/// `kind` ("mbarrier") and `what`, the name of what is accessed.
bool reach(Block& there, Fiber& f, const char* verb, const char* kind, const std::string& what, Site,
           bool by_copy = false);

/// Reports what may still access the shared memory of a block whose last thread has returned: accesses by threads of other
/// blocks of the cluster, and asynchronous operations. An access is reported unless at least one of the block's threads
/// has synchronized with it (by a barrier of the cluster or an mbarrier). An operation is reported unless one of the
/// block's threads has waited for its completion.
void check_departure(Block&);
/// Reports the first part of a tile (a stage of a ring, or a partial result) that has been filled and never
/// read, if other parts of the tile have been read.
void check_parts(Block&);
/// Reports the barriers and mbarriers that are in the middle of a round or phase when the block ends.
void check_barriers(Block&);

/// Called when no thread can run. If all threads that have not returned wait at the block's barrier,
/// reports that as a finding (an error in the kernel), releases the barrier and returns true. Otherwise
/// returns false: the block is deadlocked.
bool unstick(Block&);
/// If only some lanes of a warp wait in a collective instruction, reports that as a finding (an error in
/// the kernel) and returns true. Returns false if there is no such warp.
bool report_convergence(Block&);
/// Appends to the message of a deadlock what each thread of the block waits for. `ranges`: number of ranges of
/// threads listed so far, which the call increases; `first_site`: code address of the first call listed, 0 if none.
void report_deadlock(const Block&, RawFinding&, unsigned& ranges, std::uintptr_t& first_site);

}  // namespace zellige::emulate
