// Finds races on a buffer in global memory that a launch writes. A cell of the record describes two bytes:
// the last writer and the last reader, with their blocks. Additions (atomics and reductions, which may follow one another
// in any order) are kept apart.
//
// Blocks run on several cores, so cells are atomic. An access records itself before it looks at the other
// accesses: of two racing accesses, at least one finds the other, whichever runs first. Accesses of one byte have cells
// of their own, because two blocks may own the two bytes of a cell.
//
// Blocks synchronize by increments of atomic counters in global memory. If a thread of block B increments a counter after a
// thread of block A did, the accesses that A's thread had made or observed before its increment happened before those that
// B's thread makes after its own.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shadow/clock.hpp"

namespace zellige::shadow {

/// An increment of an atomic counter by a block, with what the incrementing thread had observed of its block's warps by
/// then. Threads and warps are numbered within the block; times are those of the vector clocks (clock.hpp).
struct Arrival {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint32_t epoch = 0;  // the time of the thread's warp
  // per warp of the block: accesses of earlier times happened before the increment, and ordinary writes to global memory
  // of times before `visible` have passed a fence to the asynchronous proxy
  std::vector<std::uint32_t> times, visible;
  // per thread of the block, the time of its last fence to the asynchronous proxy before the increment; 0: none
  std::vector<std::uint32_t> fences;
  bool in_block = false;  // a fence of the block alone precedes it: it orders nothing for other blocks

  /// Returns true if an access by thread `by` of the block, at time `at` of its warp, happened before the increment.
  /// `several_threads`: other threads made it, too; the incrementing thread must then have observed it.
  bool covers(std::uint16_t by, std::uint32_t at, bool several_threads) const {
    return at < times[by / 32u] || (!several_threads && by == thread && at < epoch);
  }
};

/// An increment of an atomic counter by a thread, with the increments of the same counter that preceded it.
struct Acquisition {
  std::uint32_t epoch = 0;   // the time of the thread's warp
  std::uint16_t thread = 0;  // within its cluster
  std::vector<Arrival> before;
};

/// The increments of the atomic counters in one buffer, by byte offset; the mutex orders them.
struct Arrivals {
  std::mutex mutex;
  std::map<std::size_t, std::vector<Arrival>> at;
};

/// Which proxy makes an access: ordinary instructions the generic one, TMA and bulk copies the asynchronous one.
enum class AccessProxy : std::uint8_t { generic, async };

/// Shadow memory of one global buffer during one launch: its last writers, readers and additions. Several threads may use
/// it. `at` is a byte offset, and `block` the linear index of the accessing thread's block. Functions that return a Clash
/// return the conflict with an earlier access, if any. (The buffer itself tracks uninitialised bytes.)
class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;

  /// Records and checks a read of aligned bytes. An asynchronous one conflicts with ordered ordinary writes, too, if no
  /// fence to the asynchronous proxy lies between.
  Clash read(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block, AccessProxy = AccessProxy::generic);
  /// The same for a write, which any unordered access conflicts with. An asynchronous one has only begun: until it is
  /// landed, every access to its bytes is a race.
  Clash write(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block, AccessProxy = AccessProxy::generic);
  /// Records that an asynchronous write is complete for the actor, the thread that issued it.
  void land(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block);

  /// Records and checks an addition: an atomic, or a reduction by the asynchronous proxy, which has only begun and lands
  /// by `land_add`. It conflicts with unordered reads and writes, not with other additions. `op`: the number of the
  /// reduction in its cluster, from 1; 0 for an atomic.
  Clash add(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block, std::uint32_t op);
  void land_add(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block, std::uint32_t op);

  /// Forgets all accesses, because a barrier of the complete grid orders them before all that follow.
  void forget();

  Arrivals arrivals;  // increments of the atomic counters in this buffer

 private:
  // Fields: block + 1 (28 bits), epoch (24), thread (10), two flags. 0: no access. A reader's flags are several blocks
  // and several threads, a writer's are asynchronous and in flight.
  using Stamp = std::uint64_t;
  struct Cell {
    std::atomic<Stamp> writer, reader;
    std::atomic<std::uint32_t> write_site, read_site;
  };
  /// An addition to bytes from..to of 16 bytes.
  struct Addition {
    std::uint32_t block = 0, epoch = 0, site = 0, op = 0;
    std::uint16_t thread = 0;  // within its block
    std::uint8_t from = 0, to = 0;
    bool in_flight = false;
  };

  static Clash with_writer(Stamp writer, std::uint32_t site, const Actor&, std::uint32_t block, AccessProxy);
  static Clash with_reader(const Cell&, const Actor&, std::uint32_t block);
  Clash with_additions(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block, AccessProxy);

  /// Returns the first and the end of the cells that record an access: of pairs of bytes, or of one byte.
  std::pair<Cell*, Cell*> cells_of(std::size_t at, unsigned bytes) {
    if (bytes == 1) {
      if (!any_bytes_.load(std::memory_order_relaxed)) any_bytes_.store(true);
      return {bytes_ + at, bytes_ + at + 1};
    }
    return {cells_ + at / 2, cells_ + (at + bytes + 1) / 2};
  }
  template <class Look>
  Clash look(std::size_t at, unsigned bytes, Look) const;

  std::size_t count_;
  Cell *cells_, *bytes_;  // of two bytes, and of one
  std::atomic<bool> any_bytes_{false};
  std::atomic<bool> any_additions_{false};
  std::mutex additions_mutex_;
  std::unordered_map<std::size_t, std::vector<Addition>> additions_;  // by offset / 16
};

}  // namespace zellige::shadow
