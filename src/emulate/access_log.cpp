#include "emulate/access_log.hpp"

#include <algorithm>
#include <bit>

#include "zellige/emulate/wavefronts.hpp"

namespace zellige::emulate {

namespace {

bool is_global(Counter cost) {
  return cost == Counter::global_load_sectors || cost == Counter::global_store_sectors ||
         cost == Counter::cp_async_sectors;
}

// Returns the passes of a shared-memory access by all 32 lanes in which each group of lanes that the hardware serves together
// finds its words in different banks; 0: it does not, or the width has no such groups.
unsigned free_of_conflicts(unsigned width, const std::uint64_t* offsets) {
  if (width != 4 && width != 8 && width != 16) return 0;
  const unsigned phase = 128 / width;
  const std::uint32_t all = phase == 32 ? ~0u : (1u << phase) - 1;
  for (unsigned first = 0; first < 32; first += phase) {
    std::uint32_t used = 0;
    for (unsigned l = first; l < first + phase; ++l) used |= 1u << (std::uint32_t(offsets[l]) / width & (phase - 1));
    if (used != all) return 0;
  }
  return 32 / phase;
}

// Adds the wavefronts (actual and ideal) of a warp's access to shared memory. `width`: bytes per lane; `lanes`: mask of
// the active lanes; `offsets`: byte offset per lane.
void count_shared(Counter cost, unsigned width, std::uint32_t lanes, const std::uint64_t* offsets, Counters& counters) {
  if (const unsigned passes = lanes == ~0u ? free_of_conflicts(width, offsets) : 0) {
    counters[cost] += passes;
    counters[Counter(unsigned(cost) + 1)] += passes;
    return;
  }
  std::uint32_t at[32];
  bool active[32];
  for (unsigned l = 0; l < 32; ++l) {
    active[l] = lanes >> l & 1;
    at[l] = active[l] ? std::uint32_t(offsets[l]) : 0;
  }
  const unsigned passes = wavefronts(at, active, 32, int(width), cost == Counter::shared_load_wavefronts);
  counters[cost] += passes;
  counters[Counter(unsigned(cost) + 1)] += std::min(passes, ideal_wavefronts(active, 32, int(width)));
}

// Adds the 32-byte sectors (actual and ideal) of a warp's access to global memory. `addresses`, `bytes`: per lane.
void count_global(Counter cost, std::uint32_t lanes, const std::uint64_t* addresses, const std::uint8_t* bytes,
                  Counters& counters) {
  std::uint64_t sector[32];
  std::uint32_t touched[32];  // mask of the bytes touched in each sector
  unsigned sectors = 0, hint = 0;
  for (std::uint32_t left = lanes; left; left &= left - 1) {
    const unsigned l = unsigned(std::countr_zero(left));
    const std::uint64_t s = addresses[l] / 32;
    const std::uint32_t mask = std::uint32_t((1ull << bytes[l]) - 1) << addresses[l] % 32;
    if (!(hint < sectors && sector[hint] == s)) {
      hint = unsigned(std::find(sector, sector + sectors, s) - sector);
      if (hint == sectors) sector[sectors] = s, touched[sectors++] = 0;
    }
    touched[hint] |= mask;
  }
  unsigned distinct = 0;
  for (unsigned i = 0; i < sectors; ++i) distinct += touched[i] == ~0u ? 32 : unsigned(std::popcount(touched[i]));
  counters[cost] += sectors;
  counters[Counter(unsigned(cost) + 1)] += (distinct + 31) / 32;
}

}  // namespace

AccessLog::Place& AccessLog::insert(std::size_t slot, std::uintptr_t site, Counter cost, unsigned width) {
  if (touched_.size() * 2 >= table_.size()) {
    std::vector<Place> old(table_.size() * 2);
    old.swap(table_);
    std::vector<std::uint32_t> slots;
    slots.swap(touched_);
    for (std::uint32_t s : slots) find(old[s].site, old[s].cost, old[s].width) = std::move(old[s]);
    return find(site, cost, width);
  }
  Place& place = table_[slot];
  place.site = site, place.cost = cost, place.width = std::uint8_t(width);
  touched_.push_back(std::uint32_t(slot));
  return place;
}

std::uint32_t AccessLog::fresh() {
  if (free_.empty()) free_.push_back(std::uint32_t(groups_.size())), groups_.emplace_back();
  const std::uint32_t id = free_.back();
  free_.pop_back();
  groups_[id].lanes = 0;
  return id;
}

void AccessLog::complete(Place& place, unsigned position, Counters& counters) {
  const std::uint32_t id = place.open[position];
  const Group& group = groups_[id];
  const Counter best = Counter(unsigned(place.cost) + 1);
  const std::uint64_t cost_before = counters[place.cost], ideal_before = counters[best];
  if (is_global(place.cost))
    count_global(place.cost, group.lanes, group.address, group.bytes, counters);
  else
    count_shared(place.cost, place.width, group.lanes, group.address, counters);
  if (costs) {
    AccessCost& sum = (*costs)[{place.site, place.cost, place.width}];
    ++sum.executions;
    sum.cost += counters[place.cost] - cost_before;
    sum.ideal += counters[best] - ideal_before;
  }
  free_.push_back(id);
  place.open[position] = none;
  // Lanes execute in order, so executions complete in order: if the last one is complete, all are.
  if (position + 1 == place.open.size()) {
    place.retired += position + 1;
    place.open.clear();
  }
}

void AccessLog::flush_all(Counters& counters) {
  for (std::uint32_t slot : touched_) {
    Place& place = table_[slot];
    for (unsigned i = 0; i < place.open.size(); ++i)
      if (place.open[i] != none) complete(place, i, counters);
    place.site = 0;
    place.retired = 0;
    std::fill(std::begin(place.done), std::end(place.done), 0u);
    place.open.clear();
  }
  touched_.clear();
}

}  // namespace zellige::emulate
