// The accesses of a running program, as the compiler's instrumentation tells them: those of kernels are checked by the
// emulator's shadow memories; the host must not touch memory of the device.
#include "cuda/access.hpp"

#include <algorithm>
#include <bit>

#include "emulate/atomics.hpp"
#include "emulate/calls.hpp"

namespace zellige::cuda {

using emulate::Block;
using emulate::Fiber;
using emulate::Finding;
using emulate::Place;
using emulate::Region;
using emulate::Site;

namespace {

// An access so far beyond the end of shared memory counts as one that is out of its bounds.
constexpr std::size_t shared_far = 1 << 20;

Site site_of(CallSite s) { return {s.address, s.frame}; }

// Returns the tensor of shared memory that contains or is nearest to byte `at` of a block's shared memory.
const Region* shared_region(Fiber& f, Block& b, std::size_t at, Site site) {
  Session& s = session();
  if (at >= s.static_bytes)
    return b.shared(f, s.dynamic_name, unsigned(s.static_bytes), unsigned(s.dynamic_bytes), site);
  const auto next = std::upper_bound(s.shared.begin(), s.shared.end(), at,
                                     [](std::size_t x, const Declaration* d) { return x < d->offset; });
  const Declaration* d = next == s.shared.begin() ? nullptr : next[-1];
  const bool beyond = d && at >= d->offset + d->bytes + shared_gap / 2;
  if ((!d || beyond) && next != s.shared.end()) d = *next;
  if (!d) return b.shared(f, s.dynamic_name, unsigned(s.static_bytes), unsigned(s.dynamic_bytes), site);
  return b.shared(f, d->name, d->offset, unsigned(d->bytes), site);
}

// Returns whether p lies in the arguments of the launch.
bool known_to_kernels(const void* p) {
  const KernelCall& k = *session().running;
  if (p >= k.closure && p < static_cast<const unsigned char*>(k.closure) + k.closure_bytes) return true;
  return false;
}
bool in_image(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  return std::ranges::any_of(session().images, [&](const auto& i) { return at >= i.first && at < i.second; });
}

void host_access(const void* p, bool writes, Site site) {
  Session& s = session();
  if (!s.memory.owns(p)) return;
  const ProgramAllocation* const a = s.memory.near(p);
  if (a && a->kind == MemoryKind::managed && !a->freed && a->contains(p)) return;
  s.report_host("memory of the device", site,
                fmt::format("the host {} {} at \1; it gets at it by cudaMemcpy", writes ? "writes" : "reads",
                            a ? a->name() : "an address of the device"));
}

void access(const void* p, std::size_t bytes, bool writes, CallSite site) {
  if (!inside_kernel) return host_access(p, writes, site_of(site));
  Fiber& f = emulate::fiber(emulate::self());
  if (f.home->fiber_at(reinterpret_cast<std::uintptr_t>(p)))
    return emulate::check_registers(f, p, bytes, writes, site_of(site));
  access_memory(f, static_cast<const unsigned char*>(p), bytes, writes, site_of(site));
}

// Volatile accesses to global memory are relaxed ones: threads may wait for each other by them.
void volatile_access(const void* p, std::size_t bytes, bool writes, CallSite site) {
  if (!inside_kernel) return host_access(p, writes, site_of(site));
  Fiber& f = emulate::fiber(emulate::self());
  if (f.home->fiber_at(reinterpret_cast<std::uintptr_t>(p))) return;
  const Place place = place_of(f, p, site_of(site));
  if (!place.region || place.region->space == emulate::Space::shared || bytes > 8) {
    access_memory(f, static_cast<const unsigned char*>(p), bytes, writes, site_of(site));
    if (!writes) emulate::spin(f, p, site_of(site));
    return;
  }
  emulate::relaxed_access(f, place, unsigned(bytes), writes, site_of(site));
}

void bad_index(const char* type, long long index, CallSite site) {
  if (!inside_kernel)
    return session().report_host("out of bounds", site_of(site),
                                 fmt::format("the host uses index {} of {} at \1", index, type));
  Fiber& f = emulate::fiber(emulate::self());
  f.home->stop(f, Finding::Kind::out_of_bounds, nullptr, site_of(site), "of an array: {} uses index {} of {} at \1",
               f.home->who(f.index), index, type);
}

void bad_alignment(const char* type, const void* p, std::size_t alignment, CallSite site) {
  if (!inside_kernel) return;
  Fiber& f = emulate::fiber(emulate::self());
  const Place place = place_of(f, p, site_of(site));
  if (!place.region) return;
  f.home->stop(f, Finding::Kind::misaligned, place.region->name, site_of(site),
               "in {} tensor {}: {} accesses {} at byte {} at \1; its address must be a multiple of {}",
               emulate::spell(place.region->space), place.region->name, f.home->who(f.index), type,
               place.p - place.region->begin, alignment);
}

}  // namespace

void access_memory(Fiber& f, const unsigned char* p, std::size_t bytes, bool writes, Site site) {
  while (bytes) {
    std::size_t part = std::min<std::size_t>(16, std::bit_floor(bytes));
    while (reinterpret_cast<std::uintptr_t>(p) % part) part /= 2;
    const Place place = place_of(f, p, site);
    if (!place.region) {
      if (in_image(p)) return;
      if (!writes && known_to_kernels(p)) return;
      refuse_address(f, p, writes ? "writes" : "reads", site);
    }
    emulate::check_access(f, place, unsigned(part), writes, site);
    p += part;
    bytes -= part;
  }
}

unsigned shared_address_of(Fiber& f, const void* p, Site site) {
  const auto* const at = static_cast<const unsigned char*>(p);
  emulate::Cluster& cluster = f.home->cluster;
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    const Block& there = cluster.block(rank);
    if (at < there.memory || at >= there.memory + there.shared_bytes) continue;
    return unsigned(at - there.memory) | (rank == f.home->rank ? 0 : (rank + 1) << 24);
  }
  f.home->stop(f, Finding::Kind::instruction, nullptr, site,
               "of {}: at \1 it takes an address for one of shared memory", f.home->who(f.index));
}

void* shared_pointer_of(Fiber& f, unsigned address) {
  const unsigned rank = address >> 24;
  emulate::Cluster& cluster = f.home->cluster;
  const bool other = rank > 0 && rank <= cluster.size();
  return (other ? cluster.block(rank - 1) : *f.home).memory + (address & 0xffffff);
}

void* shared_in_block(Fiber& f, const void* p, unsigned rank, Site site) {
  emulate::Cluster& cluster = f.home->cluster;
  const unsigned offset = shared_address_of(f, p, site) & 0xffffff;
  if (rank >= cluster.size())
    f.home->stop(f, Finding::Kind::instruction, nullptr, site,
                 "at \1, {} takes an address in block {} of a cluster of {}", f.home->who(f.index), rank,
                 cluster.size());
  return cluster.block(rank).memory + offset;
}

Place place_of(Fiber& f, const void* p, Site site) {
  auto* const at = static_cast<unsigned char*>(const_cast<void*>(p));
  Block& b = *f.home;
  for (unsigned rank = 0; b.cluster.size() > 1 && rank < b.cluster.size(); ++rank)
    if (Block& there = b.cluster.block(rank); at >= there.memory && at < there.memory + there.shared_bytes)
      return {at, shared_region(f, there, std::size_t(at - there.memory), site)};
  if (at >= b.memory && at < b.memory + b.shared_bytes + shared_far) {
    const std::size_t offset = std::size_t(at - b.memory);
    if (offset >= b.shared_bytes)
      b.stop(f, Finding::Kind::out_of_bounds, session().dynamic_name.load(), site,
             "on shared tensor {}: {} accesses byte {} at \1; the tensor has {}", session().dynamic_name,
             b.who(f.index), offset - session().static_bytes, session().dynamic_bytes);
    return {at, shared_region(f, b, offset, site)};
  }
  thread_local const ProgramAllocation* last = nullptr;
  thread_local const KernelCall* last_launch = nullptr;
  const Session& s = session();
  if (last_launch == s.running && last && last->contains(p) && last->region) return {at, last->region};
  const ProgramAllocation* const a = s.memory.near(p);
  if (!a) return {at, nullptr};
  if (a->freed)
    b.stop(f, Finding::Kind::crash, a->name().c_str(), site, "of {}: it accesses {} at \1, which is freed",
           b.who(f.index), a->name());
  last = a, last_launch = s.running;
  return {at, a->region};
}

void refuse_address(Fiber& f, const void* p, const char* verb, Site site) {
  Block& b = *f.home;
  if (reinterpret_cast<std::uintptr_t>(p) < 4096)
    b.stop(f, Finding::Kind::crash, nullptr, site, "of {}: it {} through a null pointer at \1", b.who(f.index), verb);
  b.stop(f, Finding::Kind::crash, nullptr, site,
         "of {}: it {} address {} at \1, which is no memory of the device: the host's, or beyond all allocations",
         b.who(f.index), verb, fmt::ptr(p));
}

void add_access_calls(Host& all) {
  all.access = access;
  all.volatile_access = volatile_access;
  all.bad_index = bad_index;
  all.bad_alignment = bad_alignment;
}

}  // namespace zellige::cuda
