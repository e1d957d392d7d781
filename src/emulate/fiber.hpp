// One thread of a block: its context, what it waits for, and its operations in flight.
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

struct CopyInFlight {
  std::uint32_t at;  // byte offset in shared memory
  std::uint8_t bytes;
  std::uint16_t region;
  std::uint32_t site;
  alignas(16) unsigned char data[16];
};

struct Fiber : Thread {
  enum class State : std::uint8_t {
    ready,
    converging,
    in_syncwarp,
    at_barrier,
    at_mbarrier,
    polling,     // tested an mbarrier without success
    in_wgmma,    // until its warpgroup has arrived
    at_cluster,  // in cluster_wait
    for_registers,
    returned
  };

  void* context = nullptr;  // where it was suspended
  Block* home = nullptr;
  Warp* its_warp = nullptr;
  std::uint32_t lane = 0;
  State state = State::ready;
  Site site{};                         // of the call it waits in
  std::uint32_t barrier = 0;           // at_barrier: its number
  const MBarrier* mbarrier = nullptr;  // at_mbarrier, polling
  std::uint32_t parity = 0;
  bool arrived_at_cluster = false, init_fenced = false;
  std::uint32_t cluster_phase = 0;        // of the cluster's barrier when it arrived
  std::vector<CopyInFlight> copies;       // in order of issue
  std::vector<std::uint32_t> group_ends;  // each committed group's end in `copies`
  std::uint32_t landed_copies = 0, landed_groups = 0;
  // Number of times it has executed each instruction that all lanes of a warp must execute together
  // (.sync.aligned): wgmma_fence, wgmma_commit, wgmma_wait, setmaxnreg.
  std::uint32_t together[4] = {};
  Site together_at{};                   // the last one
  std::shared_ptr<InFlight> in_flight;  // null until the first bulk store or wgmma
};

}  // namespace zellige::emulate
