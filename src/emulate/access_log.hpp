// Groups the accesses of a warp's lanes into warp instructions, and counts the bank conflicts (wavefronts) or
// sectors of each instruction. The i-th access of each lane at a code address, counted from the warp's last
// synchronization, belongs to the i-th execution of the instruction there. An instruction is counted when all
// lanes have executed it, or at the next synchronization.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "zellige/emulate/counters.hpp"

namespace zellige::emulate {

/// An instruction that accesses memory: its return address, the counter of its cost, and its bytes per lane.
struct AccessPlace {
  std::uintptr_t site = 0;
  Counter cost{};
  std::uint8_t width = 0;
  auto operator<=>(const AccessPlace&) const = default;
};
/// What the executions of an instruction cost: wavefronts or sectors, and the fewest that would do.
struct AccessCost {
  std::uint64_t executions = 0, cost = 0, ideal = 0;
};
using AccessCosts = std::map<AccessPlace, AccessCost>;

/// Collects the accesses of one warp's lanes, and counts the wavefronts or sectors of each instruction that they form.
class AccessLog {
 public:
  AccessCosts* costs = nullptr;  // the costs are also added here, by instruction; null: they are not

  /// Adds the access of lane `lane` at the code address `site`. `cost`: the counter of the wavefronts or sectors of this
  /// kind of access; the next one is for the ideal number, without conflicts. `address`: byte offset in shared memory, or
  /// global address. `width`: bytes per lane of the instruction; `bytes`: bytes that this lane accesses, at most `width`.
  /// `lanes_expected`: mask of the lanes that execute the instruction. When all of them have, its wavefronts or sectors
  /// are added to `counters`.
  void add(std::uintptr_t site, Counter cost, unsigned width, unsigned lane, std::uint64_t address, unsigned bytes,
           std::uint32_t lanes_expected, Counters& counters) {
    Place& place = find(site, cost, width);
    const std::uint32_t n = place.done[lane]++;
    const unsigned position = unsigned(n - place.retired);
    if (position >= place.open.size()) place.open.push_back(fresh());
    Group& group = groups_[place.open[position]];
    group.lanes |= 1u << lane;
    group.address[lane] = address;
    group.bytes[lane] = std::uint8_t(bytes);
    if (group.lanes == lanes_expected) complete(place, position, counters);
  }

  /// Counts the incomplete instructions and resets the log; to be called when the warp synchronizes.
  void flush(Counters& counters) {
    if (!touched_.empty()) flush_all(counters);
  }

 private:
  /// The accesses of a warp's lanes in one execution of an instruction.
  struct Group {
    std::uint32_t lanes;
    std::uint8_t bytes[32];
    std::uint64_t address[32];
  };
  /// A place in the code with an access, and its executions since the last flush.
  struct Place {
    std::uintptr_t site = 0;  // return address; 0: this slot of the hash table is free
    Counter cost{};
    std::uint8_t width = 0;
    std::uint32_t retired = 0;    // completed executions that are removed from `open`
    std::uint32_t done[32] = {};  // number of executions per lane
    // indices in groups_ of the executions from `retired` on; `none` if already counted
    std::vector<std::uint32_t> open;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  /// Returns the entry of the hash table for a code address, kind of access and width; inserts it if it is new.
  Place& find(std::uintptr_t site, Counter cost, unsigned width) {
    std::size_t slot = (site * 0x9E3779B97F4A7C15ull >> 32 ^ unsigned(cost) * 37 ^ width) & (table_.size() - 1);
    for (;; slot = (slot + 1) & (table_.size() - 1)) {
      Place& place = table_[slot];
      if (place.site == site && place.cost == cost && place.width == width) return place;
      if (!place.site) return insert(slot, site, cost, width);
    }
  }
  Place& insert(std::size_t slot, std::uintptr_t site, Counter cost, unsigned width);
  std::uint32_t fresh();                                // returns the index of an empty group
  void complete(Place&, unsigned position, Counters&);  // counts a group and frees it
  void flush_all(Counters&);

  std::vector<Place> table_ = std::vector<Place>(32);
  std::vector<std::uint32_t> touched_;  // indices of used entries of table_
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;  // indices of unused entries of groups_
};

}  // namespace zellige::emulate
