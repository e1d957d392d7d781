// What a running block (block.hpp) consists of: warps, named barriers, warpgroups that synchronize in a wgmma; and the state of
// the launch that it belongs to.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulate/access_log.hpp"
#include "emulate/engine.hpp"
#include "emulate/fiber.hpp"
#include "shadow/clock.hpp"
#include "shadow/global_shadow.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// State of a device buffer during a launch, to which the `shadow` of its tensors (Region) points.
struct GlobalState {
  shadow::GlobalShadow* races = nullptr;  // null: the launch does not write the buffer
  std::uint8_t* flags = nullptr;          // per byte, 1 if written; null: everything is initialized
  bool padded = false;                    // uninitialized bytes are padding between elements; the message says so
};

/// A launch, shared by all worker threads.
struct LaunchState : Launch {
  const LaunchConfig* config = nullptr;
  // What the entry function of the kernel's library reports: the kernel's body, the number of its parameters, and the
  // size in bytes of each; 0: a pointer.
  void (*body)(const Launch&) = nullptr;
  unsigned parameters = 0;
  const std::size_t* sizes = nullptr;
  std::atomic<std::uint64_t>* next = nullptr;  // the next cluster that starts, by its index
  std::uint64_t clusters = 0;
  // Workers that run a cluster which does not wait for memory to change; null: there is one worker.
  std::atomic<int>* busy = nullptr;
  const LaunchState* ranks = nullptr;  // by rank: the launch with that rank's arguments; null: there is one rank
};

/// Type-erased compute function of a collective of some lanes. lanes: their mask; in[i] and out[i]: operand and result of
/// lane i.
using MaskedFunction = void (*)(void* compute, std::uint32_t lanes, const void* const* in, void* const* out);

/// A warp collective of the lanes `mask`, in which the lanes `here` wait.
struct MaskedCollective {
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
  shadow::Clock clock{};                  // what all of its lanes have observed
  std::uint32_t minimum = 0;              // minimum of the clock's times of warps, and of `synced`
  std::uint32_t synced = 0;               // when its lanes last synchronized with each other; see Actor
  // Mask of the lanes that have clocks of their own: by a wait or a fence of a single lane they have observed
  // more than the warp, until it synchronizes.
  std::uint32_t diverged = 0;
  std::unique_ptr<shadow::Clock[]> own;  // by lane; valid for diverged lanes
  std::uint32_t own_synced[32] = {};     // like `synced`, for diverged lanes
  AccessLog log;

  const Fiber* left_first = nullptr;  // the first lane to return
  std::uint32_t registers = 0;        // per thread, for setmaxnreg

  std::uint32_t met = 0;       // lanes that have reached the warp collective in progress
  const char* what = nullptr;  // name of that collective
  Site converging{};           // its call
  const void* in[32];
  void* out[32];

  std::vector<MaskedCollective> collectives;  // the collectives of some lanes in progress

  // mask of the lanes that wait in __syncwarp, and the mask that each passed
  std::uint32_t synced_lanes = 0, sync_mask[32] = {};
  std::unique_ptr<std::uint32_t[]> pairs;  // by lane and other lane: see Actor::pairs; null: no partial __syncwarp yet
};

/// Returns the vector clock of a thread: for each warp and each asynchronous agent of the cluster, the
/// latest time that the thread has observed.
inline const shadow::Clock& known(const Fiber& f) {
  return f.its_warp->diverged >> f.lane & 1 ? f.its_warp->own[f.lane] : f.its_warp->clock;
}
void hear(Fiber&, const shadow::Clock&);  // adds to what a thread has observed
void hear(Fiber&, std::uint32_t agent, std::uint32_t time);
/// fence.proxy.async: makes its observations of these state spaces visible to the asynchronous proxy.
void fence(Fiber&, bool shared, bool global);
/// Starts a new epoch of the thread's warp: what its lanes do from now on is not released.
void start_epoch(const Fiber&);
/// Adds what these lanes have observed to the warp's clock. `agents`: number of the cluster's agents.
void share(Warp&, std::uint32_t lanes, unsigned agents);
/// Orders the accesses of the lanes `group` of the thread's warp before what any of them does from now on. The other
/// lanes learn nothing.
void sync_lanes(const Fiber&, std::uint32_t group);

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
  shadow::Clock observed{};  // what the threads that arrived without waiting (bar.arrive) had observed
  Site first{};              // the first arrival of this round, and its thread
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

/// Checks how the parts of one block's tiles are used: stages of a ring, or partial results. Each part that is filled must be
/// read. A thread that has read a later stage must not read an earlier one until that has been refilled. Times are those of
/// the accessing thread's warp.
class PartsRead {
 public:
  /// A part of a tile, with its last fill and the reads since.
  struct Part {
    std::uint32_t fill = 0;        // number of its last fill, counted per tile from 1; 0: never filled
    bool read = false;             // since its last fill
    std::uint32_t read_epoch = 0;  // time of the latest read
    std::uint16_t thread = 0;      // the first thread to write in its last fill
    std::uintptr_t site = 0;       // return address of that thread's write
  };
  /// A tile of shared memory that is divided into parts.
  struct Tile {
    const Region* region = nullptr;
    std::uint32_t fills = 0;  // number of fills
    // true once a thread has refilled a part that it has read, without a barrier between: the order of stages
    // is then not checked
    bool loose = false;
    std::vector<Part> parts;
    std::vector<std::uint32_t> latest;  // per thread of the block, the latest fill that it has read
  };

  void clear() {
    tiles_.clear();
    last_ = nullptr;
  }
  const std::unordered_map<std::uint16_t, Tile>& tiles() const { return tiles_; }

  /// Records that a thread writes byte `from` of the tile `r` at time `epoch` of its warp. The write starts a
  /// new fill of the part (ring stage or partial result) that contains the byte. But it belongs to the part's
  /// last fill if that has not been read, or if no barrier has followed the read.
  void filled(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch, std::uintptr_t site) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    if (p.fill && p.read && epoch <= p.read_epoch && t.latest[thread] >= p.fill) t.loose = true;
    if (p.fill && (!p.read || epoch <= p.read_epoch)) return;
    p = {++t.fills, false, 0, thread, site};
  }
  /// Records that a thread reads byte `from` of the tile `r` at time `epoch` of its warp. Returns null if the
  /// read is valid. If the thread has already read a stage of the ring that was filled later, returns the
  /// stage that contains the byte.
  const Part* read(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    p.read = true;
    p.read_epoch = std::max(p.read_epoch, epoch);
    if (!r.stages || !p.fill || t.loose) return nullptr;
    if (p.fill < t.latest[thread]) return &p;
    t.latest[thread] = p.fill;
    return nullptr;
  }

 private:
  Tile& tile(const Region& r) {
    if (last_ && last_->region->id == r.id) return *last_;
    Tile& t = tiles_[r.id];
    if (t.parts.empty()) t.region = &r, t.parts.resize(r.bytes / r.part_bytes + 1), t.latest.resize(1024);
    last_ = &t;
    return t;
  }
  static std::size_t part(const Tile& t, const Region& r, std::size_t from) {
    return std::min(from / r.part_bytes, t.parts.size() - 1);
  }

  std::unordered_map<std::uint16_t, Tile> tiles_;  // by Region::id
  Tile* last_ = nullptr;                           // the tile of the last access; null: unknown
};

}  // namespace zellige::emulate
