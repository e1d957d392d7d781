// What a running block (block.hpp) consists of: warps, named barriers, warpgroups that meet in a wgmma; and the state of
// the launch that it belongs to.
#pragma once
#include <memory>
#include <string>

#include "emulate/access_log.hpp"
#include "emulate/clock.hpp"
#include "emulate/engine.hpp"
#include "emulate/fiber.hpp"
#include "emulate/global_shadow.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// State of a device buffer during a launch, to which the `shadow` of its tensors (Region) points.
struct GlobalState {
  GlobalShadow* races = nullptr;  // null: the launch does not write the buffer
  std::uint8_t* flags = nullptr;  // per byte, 1 if written; null: everything is initialized
  bool padded = false;            // uninitialized bytes are padding between elements; the message says so
};

/// A launch, shared by all worker threads.
struct LaunchState : Launch {
  const LaunchConfig* config = nullptr;
  // What the entry function of the kernel's library reports: the kernel's body, the number of its parameters, and the
  // size in bytes of each; 0: a pointer.
  void (*body)(const Launch&) = nullptr;
  unsigned parameters = 0;
  const std::size_t* sizes = nullptr;
};

/// Type-erased compute function of a collective of some lanes. lanes: their mask; in[i] and out[i]: operand and result of
/// lane i.
using MaskedFunction = void (*)(void* compute, std::uint32_t lanes, const void* const* in, void* const* out);

/// A warp collective of the lanes `mask`, in which the lanes `here` wait.
struct LaneMeeting {
  std::uint32_t mask = 0, here = 0;
  const char* what = "";
  MaskedFunction compute = nullptr;
  void* with = nullptr;
  const void* in[32];
  void* out[32];
};

/// A warp of a running block: its lanes, what they have observed (clock.hpp), and the collective they are in.
struct Warp {
  unsigned index = 0, local = 0;          // index within the cluster, within the block
  std::uint32_t lanes = 0;                // mask of the lanes that exist
  std::uint32_t ready = 0, returned = 0;  // masks of lanes
  Clock clock{};                          // what all of its lanes have observed
  std::uint32_t minimum = 0;              // minimum of the clock's times of warps, and of `synced`
  std::uint32_t synced = 0;               // when its lanes last synchronized with each other; see Actor
  // Mask of the lanes that have clocks of their own: by a wait or a fence of a single lane they have observed
  // more than the warp, until it synchronizes.
  std::uint32_t diverged = 0;
  std::unique_ptr<Clock[]> own;       // by lane; valid for diverged lanes
  std::uint32_t own_synced[32] = {};  // like `synced`, for diverged lanes
  AccessLog log;

  const Fiber* left_first = nullptr;  // the first lane to return
  std::uint32_t registers = 0;        // per thread, for setmaxnreg

  std::uint32_t met = 0;       // lanes that have reached the warp collective in progress
  const char* what = nullptr;  // name of that collective
  Site converging{};           // its call
  const void* in[32];
  void* out[32];

  std::vector<LaneMeeting> meetings;  // the collectives of some lanes in progress

  // mask of the lanes that wait in __syncwarp, and the mask that each passed
  std::uint32_t synced_lanes = 0, sync_mask[32] = {};
  std::unique_ptr<std::uint32_t[]> pairs;  // by lane and other lane: see Actor::pairs; null: no partial __syncwarp yet
};

/// One of a block's 16 named barriers (bar.sync); a round ends when the expected threads have arrived.
struct NamedBarrier {
  unsigned arrived = 0, expected = 0;  // threads in this round
  std::uint32_t warps = 0;             // mask of the warps with a waiting thread
  std::uint32_t waiting[32] = {};      // per warp, mask of the waiting lanes
  std::uint32_t come[32] = {};         // per warp, mask of the arrived lanes, waiting or not
  // per warp: its time at its arrival in the previous round; 0: did not arrive
  std::uint32_t came_before[32] = {};
  std::uint32_t epoch[32] = {};  // the same for this round
  // number of finished rounds; number of warps that arrived in this round and could not know that the
  // previous one had ended
  unsigned rounds = 0, strays = 0;
  Clock observed{};  // what the threads that arrived without waiting (bar.arrive) had observed
  Site first{};      // the first arrival of this round, and its thread
  unsigned first_thread = 0;
};

/// A warpgroup of a running block: its threads that have reached the wgmma in progress, with their operands.
struct Warpgroup {
  std::uint32_t agent = 0;  // the clocks' agent of its wgmma groups; 0: none yet
  unsigned arrived = 0;
  Site site{};
  const WgmmaCall* call[128] = {};
};

/// The last access to this block's shared memory by a warp of another block of the cluster.
struct RemoteTouch {
  std::uint32_t epoch = 0;  // time of the accessing warp
  std::uint16_t thread = 0;
  Site site{};
  const char *verb = "", *kind = "";  // for the message: "arrives at", "mbarrier"
  std::string what;                   // for the message: name of the tensor or mbarrier
};

}  // namespace zellige::emulate
