// Groups the accesses of a warp's lanes by instruction: the n-th execution of one place in the code, counted
// per lane since the warp last synchronized. Once all lanes have executed it, or at the next synchronization,
// the group's wavefronts or sectors are counted.
#pragma once
#include <cstdint>
#include <vector>

#include "zellige/emulate/counters.hpp"

namespace zellige::emulate {

class AccessLog {
 public:
  enum class Stream : std::uint8_t {
    global_load,
    global_store,
    shared_load,
    shared_store,
    cp_async_write,
    cp_async_source
  };

  /// `address`: a byte offset into shared memory, or a global address. `width`: of the instruction; `bytes`:
  /// of this lane's access, at most the width.
  void add(std::uintptr_t site, Stream stream, unsigned width, unsigned lane, std::uint64_t address,
           unsigned bytes, std::uint32_t lanes_expected, Counters& counters) {
    Place& place = find(site, stream, width);
    const std::uint32_t n = place.done[lane]++;
    const unsigned position = unsigned(n - place.retired);
    if (position >= place.open.size()) place.open.push_back(fresh());
    Group& group = groups_[place.open[position]];
    group.lanes |= 1u << lane;
    group.address[lane] = address;
    group.bytes[lane] = std::uint8_t(bytes);
    if (group.lanes == lanes_expected) complete(place, position, counters);
  }

  /// Counts the incomplete groups and starts over.
  void flush(Counters& counters) {
    if (!touched_.empty()) flush_all(counters);
  }

 private:
  struct Group {
    std::uint32_t lanes;
    std::uint8_t bytes[32];
    std::uint64_t address[32];
  };
  struct Place {
    std::uintptr_t site = 0;  // 0: free
    Stream stream{};
    std::uint8_t width = 0;
    std::uint32_t retired = 0;        // executions whose groups are counted and removed
    std::uint32_t done[32] = {};      // executions by each lane
    std::vector<std::uint32_t> open;  // groups of the later executions; counted ones are empty
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  Place& find(std::uintptr_t site, Stream stream, unsigned width) {
    std::size_t slot =
        (site * 0x9E3779B97F4A7C15ull >> 32 ^ unsigned(stream) * 37 ^ width) & (table_.size() - 1);
    for (;; slot = (slot + 1) & (table_.size() - 1)) {
      Place& place = table_[slot];
      if (place.site == site && place.stream == stream && place.width == width) return place;
      if (!place.site) return insert(slot, site, stream, width);
    }
  }
  Place& insert(std::size_t slot, std::uintptr_t site, Stream stream, unsigned width);
  std::uint32_t fresh();
  void complete(Place&, unsigned position, Counters&);
  void flush_all(Counters&);

  std::vector<Place> table_ = std::vector<Place>(32);
  std::vector<std::uint32_t> touched_;  // slots in use
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;
};

/// Counts the cost of a warp's access; lanes outside the mask are inactive.
void count_shared(AccessLog::Stream, unsigned width, std::uint32_t lanes, const std::uint64_t* offsets,
                  Counters&);
void count_global(AccessLog::Stream, std::uint32_t lanes, const std::uint64_t* addresses,
                  const std::uint8_t* bytes, Counters&);

}  // namespace zellige::emulate
