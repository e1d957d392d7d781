// Manages the shared memory of a block: its named tensors and the cp.async copies into it.
#include <cstring>

#include "emulate/cluster.hpp"
#include "zellige/emulate/arrangement.hpp"

namespace zellige::emulate {

const Region* Block::shared(Fiber& f, const char* name, unsigned offset, unsigned bytes, Site site) {
  unsigned char* begin = memory + offset;
  for (const auto& r : regions_)
    if (r->name == name && r->begin == begin && r->bytes == bytes && !r->arrangement) return r.get();
  const unsigned have = launch_->config->shared_bytes;
  if (offset > have || bytes > have - offset)
    stop(f, Finding::Kind::out_of_bounds, name, site,
         "of shared tensor {}: it lies at bytes {}..{} of shared memory at \1, the launch gives a block {}", name,
         offset, std::uint64_t(offset) + bytes, have);
  auto region = std::make_unique<Region>();
  region->name = name, region->begin = begin, region->bytes = bytes, region->space = Space::shared;
  region->shadow = this;
  for (std::size_t id = 1; id < region_names.size() && !region->id; ++id)
    if (std::strcmp(region_names[id], name) == 0) region->id = std::uint16_t(id);
  if (!region->id) {
    region->id = std::uint16_t(region_names.size());
    region_names.push_back(name);
  }
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

const Region* Block::region_of(Fiber& f, const void* p, Site site) {
  const auto* const at = static_cast<const unsigned char*>(p);
  if (at >= memory && at < memory + shared_bytes) return shared(f, "shared memory", 0, shared_bytes, site);
  for (unsigned i = 0; i < launch_->argument_count; ++i) {
    const Region* const r = launch_->arguments[i].region;
    if (r && at >= r->begin && at < r->begin + r->bytes) return r;
  }
  fail_at(f, nullptr, site,
          "an instruction gets a raw pointer into no tensor of the launch, nor into the block's dynamic shared memory");
  abandon(f);
}

// Returns the Region (a tensor's byte range) that represents accesses to the tensor `from` through the layout
// `a`. The first call with these arguments makes it, as a copy of `from`; later calls return the same one.
// `of`: division of the tile into parts, such as the stages of a ring; null if it has none. If the block
// already has 63 layouts, returns `from` itself.
const Region* Block::arranged(const Region& from, const Arrangement& a, const Parts* of) {
  std::size_t i = 1;
  while (i < arrangements_.size() && arrangements_[i] != &a) ++i;
  if (i == arrangements_.size()) {
    if (i >= 64) return &from;  // SharedShadow has 64 bits per layout
    arrangements_.push_back(&a);
    for (std::size_t o = 1; o < i; ++o)
      if (!a.agrees(*arrangements_[o]))
        shadow.disagrees[i] |= std::uint64_t(1) << o, shadow.disagrees[o] |= std::uint64_t(1) << i;
  }
  for (const auto& r : regions_)
    if (r->name == from.name && r->begin == from.begin && r->bytes == from.bytes && r->arrangement == i) return r.get();
  auto region = std::make_unique<Region>(from);
  region->arrangement = std::uint16_t(i);
  if (of) region->part_bytes = of->bytes, region->stages = of->stages;
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

void Block::land_copies(Fiber& f, unsigned pending_groups) {
  const std::uint32_t groups = std::uint32_t(f.group_ends.size());
  if (groups <= pending_groups || groups - pending_groups <= f.landed_groups) return;
  const std::uint32_t last = groups - pending_groups;
  const std::uint32_t end = f.group_ends[last - 1];
  Actor a = actor(f, 0);
  for (; f.landed_copies < end; ++f.landed_copies) {
    const CopyInFlight& copy = f.copies[f.landed_copies];
    a.site = copy.site;
    std::memcpy(memory + copy.at, copy.data, copy.bytes);
    shadow.land(copy.at, copy.bytes, a, copy.region);
    if (copy.source) cluster.global_reads.land(copy.source, copy.valid, a);
  }
  f.landed_groups = last;
  // Erases completed copies once they are the majority, so that erasing takes amortized constant time.
  if (f.landed_copies * 2 > f.copies.size()) {
    f.copies.erase(f.copies.begin(), f.copies.begin() + f.landed_copies);
    f.group_ends.erase(f.group_ends.begin(), f.group_ends.begin() + f.landed_groups);
    for (std::uint32_t& e : f.group_ends) e -= f.landed_copies;
    f.landed_copies = f.landed_groups = 0;
  }
}

}  // namespace zellige::emulate
