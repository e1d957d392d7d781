// Declares a thread of an emulated block: its suspended context, what it waits for, and its operations in flight.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "emulate/site.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

class Block;
struct Warp;
struct MBarrier;
struct InFlight;  // in_flight.hpp: a thread's asynchronous operations
struct Arrival;   // arrivals.hpp

/// A cp.async that has read its source and has not written its destination yet.
struct CopyInFlight {
  std::uint32_t at;  // byte offset in shared memory
  std::uint8_t bytes;
  std::uint16_t region;  // id of the destination's tensor
  std::uint32_t site;    // low half of the return address
  // the bytes that it reads, if the launch writes their buffer; null: it does not
  const unsigned char* source;
  std::uint8_t valid;
  alignas(16) unsigned char data[16];
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
  std::uint32_t barrier = 0;           // at_barrier: the barrier's id; for_registers: the number of registers wanted
  const MBarrier* mbarrier = nullptr;  // at_mbarrier, polling
  std::uint32_t parity = 0;
  bool arrived_at_cluster = false;                     // between cluster_arrive and cluster_wait
  std::uint32_t init_fenced_at = 0;                    // time of its warp after its last fence_mbarrier_init; 0: none
  std::uint32_t cluster_phase = 0;                     // phase of the cluster's barrier at its arrival
  std::vector<CopyInFlight> copies;                    // its cp.async copies, in order of issue
  std::vector<std::uint32_t> group_ends;               // per committed group, the number of copies up to its end
  std::uint32_t landed_copies = 0, landed_groups = 0;  // number of copies and groups that are complete
  // How often it has executed the instructions that all lanes of a warp must execute together
  // (.sync.aligned): wgmma_fence, wgmma_commit, wgmma_wait, setmaxnreg.
  std::uint32_t together[4] = {};
  Site together_at{};                   // call of the last such instruction
  std::shared_ptr<InFlight> in_flight;  // its bulk stores and wgmma; null until the first one
  const char* what = "";                // in_lanes: the collective's name, and its mask
  std::uint32_t mask = 0;               // after active_lanes: its result
  std::uintptr_t spins_at =
      0;  // its last spin: the place, the address, the spins until it yields, and how often it has
  const void* spins_on = nullptr;
  unsigned spins = 0, yields = 0;
  std::shared_ptr<const Arrival> released;  // what its last __threadfence covers; null: there was none
  const void* acquired_at = nullptr;        // the arrivals that it has acquired last, and how many
  std::size_t acquired_count = 0;
};

/// Returns the fiber that an emulated kernel's call names.
inline Fiber& fiber(Thread& t) { return static_cast<Fiber&>(t); }

}  // namespace zellige::emulate
