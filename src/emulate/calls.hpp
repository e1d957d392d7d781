// Fills the tables Engine and AsyncEngine, by which emulated kernels call the emulator, and declares what the functions
// in the tables share with each other and with Block: the thread that calls, the check of global memory, and others.
#pragma once
#include <cstring>

#include "emulate/block_reports.hpp"
#include "emulate/cluster.hpp"
#include "zellige/atom/instruction.hpp"

namespace zellige::emulate {

/// Returns the table of functions that emulated kernels call for asynchronous instructions (mbarriers, TMA, wgmma).
const AsyncEngine& async_engine();
/// Adds to a table the functions that make a thread wait (waiting.cpp).
void add_waits(Engine&);
/// Adds to a table the functions that issue asynchronous copies (transfer.cpp). They check operands and races. The bytes
/// of loads are written when they complete (Cluster), those of stores when their thread waits (finish_stores).
void add_copies(AsyncEngine&);
void add_mbarriers(AsyncEngine&);  // mbarrier.cpp
void add_wgmma(AsyncEngine&);      // wgmma.cpp
void add_tcgen05(AsyncEngine&);    // tcgen05.cpp
/// Records that a tcgen05.commit will arrive once at an mbarrier. If its phase expects no more arrivals, reports a finding and
/// returns false.
bool begin_commit(Fiber&, MBarrier&, Site);

/// Checks and records that a TMA or bulk store begins to write global memory.
void begin_store(Fiber&, const StoreInFlight&);
/// Writes the bytes of the thread's TMA and bulk stores to global memory, for its bulk groups up to number `groups`.
void finish_stores(Fiber&, std::uint32_t groups);
/// Writes the thread's cp.async copies to shared memory, except those of its last `pending_groups` groups.
void land_copies(Fiber&, unsigned pending_groups);
/// Ends a round of a named barrier of the block: passes on what its threads have observed, and wakes them.
void end_round(Block&, NamedBarrier&);
/// Starts a cp.async of a thread, as cp_async() in <zellige/emulate/device.hpp> describes it.
void start_copy(Fiber&, Place dst, Place src, unsigned bytes, unsigned valid, Site);
/// Waits at the block's barrier (__syncthreads).
void sync_block(Fiber&, Site);
/// Wakes the lanes that wait in __syncwarp only for the thread `f`, which has returned.
void leave_syncwarp(const Fiber& f);
/// Reports a finding (an error in the kernel) if two lanes of a warp have executed an instruction for whole
/// warps (wgmma_fence, wgmma_commit, wgmma_wait, setmaxnreg) a different number of times.
void check_together(const Fiber&, const Fiber& other);
/// Reports warpgroups of a block whose warps differ in what they have executed of setmaxnreg.
void check_registers(Block&);
/// Returns the descriptor (shape, types, layouts) of the instruction with this name. Aborts the process if none has it.
const Instruction& row_of(const char* name);
/// Returns the descriptor (shape, types and layouts) of the wgmma with this N. `types`: K and the types of D,
/// A and B, spelled as in the PTX mnemonic: "16.f32.f16.f16". `saturate`: the variant .satfinite.
/// `a_in_smem`: the A operand is in shared memory, not in registers. Aborts the process if there is none.
const Instruction& wgmma_row(unsigned n, const char* types, bool saturate, bool a_in_smem);

/// Whether matrix instructions accumulate as an H200 does, bit for bit, where it is known how (zellige/atom/exact_mma_reference.hpp).
inline bool exact_sums = false;
/// Executes a matrix instruction for all its threads.
void execute_matrix(const Instruction&, const BodyOperands&);

/// Checks, records and counts a read or write of 1, 2, 4, 8 or 16 bytes by a thread. Returns false if it is invalid: out of
/// bounds, misaligned, or a write to a read-only tensor.
bool check_access(Fiber&, Place, unsigned bytes, bool writes, Site);
/// Returns true if an access is within its tensor, aligned, and not a write to a read-only tensor; otherwise reports a
/// finding (an error in the kernel) and returns false.
bool admit_access(Fiber&, Place, unsigned bytes, bool writes, Site);

/// Reports an access to local memory that has accumulators of a wgmma which still owns them.
void check_registers(const Fiber&, const void* p, std::size_t bytes, bool writes, Site);

/// A call from a kernel: the thread that makes it, the thread's block, and the place in the kernel.
struct Call {
  Call(Thread& t, Site at) : f(fiber(t)), b(*f.home), site(f.called_from.address ? f.called_from : at) {}
  Fiber& f;
  Block& b;
  Site site;
};

inline const char* spell(Space s) { return s == Space::shared ? "shared" : "global"; }
/// What a rejected read returns: NaNs.
alignas(16) inline constexpr unsigned char rejected[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                           255, 255, 255, 255, 255, 255, 255, 255};

/// Checks and records that thread `f` reads or writes the `bytes` bytes at `p`, in global memory: uninitialised bytes,
/// races, and accesses before griddep_wait. `verb`: what the thread does ("reads"), for the message. `by`: a read by the
/// asynchronous proxy needs a fence after ordinary writes.
template <bool writes>
inline void check_global(Fiber& f, Place p, unsigned bytes, const char* verb, Site site,
                         shadow::AccessProxy by = shadow::AccessProxy::generic) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::ptrdiff_t at = p.p - p.region->begin;
  if (writes && state.flags) std::memset(state.flags + at, 1, bytes);
  if (!writes && state.flags && std::memchr(state.flags + at, 0, bytes))
    clash(f, f.index, p, bytes, verb, site,
          {state.padded ? shadow::Clash::What::padding : shadow::Clash::What::unwritten});
  if (!known(f).time[b.cluster.previous]) early(f, p, bytes, writes, site);
  if (!state.races) return;
  const shadow::Actor a = b.actor(f, site.address);
  const auto block = std::uint32_t(b.linear);
  shadow::Clash c = writes ? state.races->write(at, bytes, a, block) : state.races->read(at, bytes, a, block, by);
  if (writes && !c && !b.cluster.global_reads.empty()) c = b.cluster.global_reads.write(p.p, bytes, a, b.cluster.ops);
  if (c) clash_of_global(f, p, bytes, verb, site, c);
}

}  // namespace zellige::emulate
