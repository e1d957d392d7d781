// Declares a thread of an emulated block: its suspended context, the call in which it waits, and its operations in flight;
// and the stacks of a block's threads. Each stack is an aligned slot of stack_bytes bytes, with an unmapped guard page at the
// bottom and its Fiber object near the top.
#pragma once
#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "shadow/global_shadow.hpp"
#include "zellige/emulate/thread.hpp"
#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

class Block;
struct Warp;
struct MBarrier;

/// The place in a kernel that calls a function of the emulator (a memory access, a barrier, ...). Findings report the source
/// lines of the call and of its callers, which are found from the stack frame while the call has not returned.
struct Site {
  std::uintptr_t address = 0;
  std::uintptr_t frame = 0;  // the calling function's: [0] is the frame of its caller, [1] its return address
};

/// The Site of the kernel's call to the function in which the macro is expanded. Expand it only in a function
/// that the kernel calls directly.
#define ZELLIGE_SITE()                                                  \
  ::zellige::emulate::Site {                                            \
    reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),      \
        *static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) \
  }

/// Returns the return addresses of a call and of its callers, innermost first, at most 32. Follows frames as
/// long as they are within the stack [low, high) and ascend.
[[gnu::no_sanitize_address]] inline std::vector<std::uintptr_t> callers(Site site, std::uintptr_t low,
                                                                        std::uintptr_t high) {
  std::vector<std::uintptr_t> result{site.address};
  std::uintptr_t frame = site.frame;
  while (result.size() < 32 && frame >= low && frame + 16 <= high && frame % 8 == 0) {
    const auto* f = reinterpret_cast<const std::uintptr_t*>(frame);
    result.push_back(f[1]);
    if (f[0] <= frame) break;
    frame = f[0];
  }
  return result;
}

/// Returns the 64-bit code address whose low 32 bits are `low`; shadow memory stores only these. Of the
/// possible addresses, it is the one closest to `near`, an address in the same library.
inline std::uintptr_t widen(std::uint32_t low, std::uintptr_t near) {
  const std::uintptr_t span = std::uintptr_t(1) << 32;
  std::uintptr_t address = (near & ~(span - 1)) | low;
  if (address > near && address - near > span / 2)
    address -= span;
  else if (near > address && near - address > span / 2)
    address += span;
  return address;
}

/// A cp.async that has read its source and has not written its destination yet.
struct CopyInFlight {
  unsigned char data[16];
  // the bytes that it reads, if the launch writes their buffer; null: it does not
  const unsigned char* source;
  std::uint32_t at;      // byte offset in shared memory
  std::uint32_t site;    // low half of the return address
  std::uint16_t region;  // id of the destination's tensor
  std::uint8_t bytes, valid;
};

/// The cp.async of a thread that are not complete, in order of issue: a ring, so that a thread uses the same few lines of the
/// processor's cache again.
class CopyQueue {
 public:
  CopyInFlight& emplace_back() {
    if (count_ == ring_.size()) grow();
    return ring_[(first_ + count_++) & (ring_.size() - 1)];
  }
  const CopyInFlight& front() const { return ring_[first_]; }
  void pop_front() { first_ = (first_ + 1) & (ring_.size() - 1), --count_; }
  void clear() { first_ = count_ = 0; }

 private:
  void grow() {
    std::rotate(ring_.begin(), ring_.begin() + std::ptrdiff_t(first_), ring_.end());
    first_ = 0;
    ring_.resize(ring_.empty() ? 16 : 2 * ring_.size());
  }

  std::vector<CopyInFlight> ring_;  // a power of two of places
  std::size_t first_ = 0, count_ = 0;
};

/// A TMA or bulk store. Its bytes have been read, and are written to global memory when the thread waits for its group.
struct StoreInFlight {
  /// A contiguous range of the store's bytes.
  struct Piece {
    std::uint64_t to;           // byte offset in the tensor
    std::uint32_t from, bytes;  // byte offset in `data`, and size
  };
  const Region* region = nullptr;  // destination tensor
  Reduction reduction{};
  Element element{};
  std::uint32_t op = 0, group = 0;  // index of its AsyncOp, and number of its group
  Site site{};
  std::vector<unsigned char> data;
  std::vector<Piece> pieces;
};

/// An array of accumulators that a wgmma has used. While the wgmma runs, `content` has the values and the
/// thread's registers hold poison.
struct Accumulators {
  unsigned char* d = nullptr;          // the registers
  std::uint32_t bytes = 0, group = 0;  // size; group of the last wgmma
  bool running = false;                // a wgmma owns the registers
  bool fenced = false;                 // `content` is from the last wgmma_fence; false: from the last wait
  std::uintptr_t site = 0;             // return address of the last wgmma
  std::vector<unsigned char> content;
};

/// The four registers of an A operand, which a wgmma reads until its wait.
struct WgmmaRegisters {
  const std::uint32_t* a = nullptr;
  // what the registers held when the wgmma was issued, or at a later fence
  std::uint32_t content[4] = {}, group = 0;
  bool running = false;
  std::uintptr_t site = 0;
};

/// The bulk stores and wgmma of one thread. Their commit groups are numbered from 1; the open group is `committed` + 1.
struct InFlight {
  std::uint32_t stores_committed = 0, stores_read = 0;  // bulk groups committed, and read from shared memory
  std::uint32_t store_agent = 0;                        // the clocks' agent of the thread's bulk groups; 0: none yet
  std::vector<StoreInFlight> stores;

  std::uint32_t wgmma_committed = 0, wgmma_done = 0;
  // a fence since the last wait; a wgmma since the last commit
  bool wgmma_fenced = false, wgmma_open = false;
  std::uintptr_t last_wgmma = 0;  // return address
  std::vector<Accumulators> accumulators;
  std::vector<WgmmaRegisters> operands;

  // what the thread had observed at its last tcgen05_after_thread_sync: a time of each agent; empty: it has had none
  std::vector<std::uint32_t> tensor_seen;
};

/// A CUDA thread of an emulated block, which runs as a fiber (Boost.Context) with a stack of its own.
struct Fiber : Thread {
  /// What the emulated thread waits for; `ready` if it runs or can run.
  enum class State : std::uint8_t {
    ready,
    converging,  // in a warp collective
    in_syncwarp,
    at_barrier,
    at_mbarrier,    // in mbarrier_wait
    polling,        // tested an mbarrier without success
    in_wgmma,       // in wgmma, until its warpgroup has arrived
    at_cluster,     // in cluster_wait
    for_registers,  // in setmaxnreg.inc
    for_columns,    // in tcgen05.alloc
    in_lanes,       // in a collective of the lanes that a mask names
    gathering,      // in active_lanes
    spinning,       // tested memory that has not changed
    returned
  };

  void* context = nullptr;  // where it was suspended
  Block* home = nullptr;    // its block
  Warp* its_warp = nullptr;
  std::uint32_t lane = 0;
  State state = State::ready;
  Site site{};                         // the call in which it waits
  std::uint32_t barrier = 0;           // at_barrier: the barrier's id; for_registers, for_columns: the number wanted
  const MBarrier* mbarrier = nullptr;  // at_mbarrier, polling
  std::uint32_t parity = 0;
  bool arrived_at_cluster = false;        // between cluster_arrive and cluster_wait
  std::uint32_t init_fenced_at = 0;       // time of its warp after its last fence_mbarrier_init; 0: none
  std::uint32_t cluster_phase = 0;        // phase of the cluster's barrier at its arrival
  CopyQueue copies;                       // its cp.async copies that are not complete
  std::deque<std::uint32_t> copy_groups;  // per committed group that is not complete, its number of copies
  std::uint32_t uncommitted = 0;          // number of copies in no group yet
  // How often it has executed the instructions that all lanes of a warp must execute together
  // (.sync.aligned): wgmma_fence, wgmma_commit, wgmma_wait, setmaxnreg.
  std::uint32_t together[4] = {};
  Site together_at{};                   // call of the last such instruction
  std::unique_ptr<InFlight> in_flight;  // its bulk stores and wgmma; null until the first one
  const char* what = "";                // in_lanes: the collective's name, and its mask
  std::uint32_t mask = 0;               // after active_lanes: its result
  std::uintptr_t spins_at =
      0;  // its last spin: the place, the address, the spins until it yields, and how often it has
  const void* spins_on = nullptr;
  unsigned spins = 0, yields = 0;
  std::shared_ptr<const shadow::Arrival> released;  // what its last __threadfence covers; null: there was none
  const void* acquired_at = nullptr;                // the arrivals that it has acquired last, and how many
  std::size_t acquired_count = 0;
  Place relaxed_read{};  // global memory that it read relaxed since its last access; region null: none
  Site called_from{};    // in place of the site of its calls, while an interpreter makes them for it (inline PTX)
  bool carry = false;    // the carry of PTX's add.cc
};

/// Returns the fiber that an emulated kernel's call names.
inline Fiber& fiber(Thread& t) { return static_cast<Fiber&>(t); }
/// Returns the record of a thread's asynchronous operations; creates it if there is none.
inline InFlight& in_flight(Fiber& f) {
  if (!f.in_flight) f.in_flight = std::make_unique<InFlight>();
  return *f.in_flight;
}

/// The argument that a suspended context receives when it is resumed.
using Transfer = boost::context::detail::transfer_t;

/// Stacks for the threads of one block, numbered from 0.
class Stacks {
 public:
  Stacks() = default;
  ~Stacks();
  Stacks(const Stacks&) = delete;

  /// Provides at least `threads` slots, each with a Fiber. If there are fewer slots, allocates all of them
  /// again and discards the existing fibers. Throws Error if there is no memory.
  void reserve(unsigned threads);

  Fiber& fiber(unsigned i) const { return static_cast<Fiber&>(thread_of_stack(low(i))); }
  /// Returns a new context on the stack of slot i that starts with a call of `start`.
  void* fresh_context(unsigned i, void (*start)(Transfer)) const;
  /// Returns the lowest address of the stack slot i.
  std::uintptr_t low(unsigned i) const { return base_ + i * stack_bytes; }
  /// Returns the address after the last byte of the stack slot i.
  std::uintptr_t high(unsigned i) const { return low(i) + stack_bytes; }

 private:
  void release();

  void* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  std::uintptr_t base_ = 0;
  unsigned slots_ = 0;
};

/// Suspends the running context and stores it in `from`; resumes `to`.
inline void switch_context(void*& from, void* to) {
  Transfer t = boost::context::detail::jump_fcontext(to, &from);
  *static_cast<void**>(t.data) = t.fctx;
}

/// Completes a switch to a fresh context: stores the context that called switch_context in `from` of that call, so that
/// it can be resumed. The function `start` of a fresh context must call this first, with its argument.
inline void arrived(Transfer t) { *static_cast<void**>(t.data) = t.fctx; }

}  // namespace zellige::emulate
