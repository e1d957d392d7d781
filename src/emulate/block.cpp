// Starts, ends and resets the threads of a block; manages its shared memory tensors, and adds its findings.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulate/block_reports.hpp"
#include "emulate/calls.hpp"
#include "emulate/masked.hpp"
#include "graph/error.hpp"
#include "zellige/emulate/arrangement.hpp"

namespace zellige::emulate {

Block::Block(Cluster& of, unsigned its_rank)
    : cluster(of), rank(its_rank), counters(of.counters), findings(of.findings) {}

void Block::prepare(const LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  const dim3& size = config.block;
  places = cluster.places();
  fences = &cluster.fences;
  threads_ = size.x * size.y * size.z;
  warps_ = (threads_ + 31) / 32;
  first_warp = rank * warps_;
  first_thread = first_warp * 32;
  shared_bytes = config.shared_bytes;
  stacks_.reserve(threads_);
  const std::size_t base = config.shared_memory ? 1024 : 32768;  // its address is a multiple of this
  if (!config.shared_memory && (storage_bytes_ < config.shared_bytes + base || !storage_)) {
    storage_bytes_ = config.shared_bytes + base;
    storage_.reset(new unsigned char[storage_bytes_]);
  }
  unsigned char* const from = config.shared_memory ? config.shared_memory() : storage_.get();
  memory = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(from) + base - 1) / base * base);
  if (config.shared_memory && memory != from)
    fail("emulator: the kernel's shared memory lies {} bytes above a multiple of 1024; alignas(1024) puts it on one",
         reinterpret_cast<std::uintptr_t>(from) % 1024);
  regions_.clear();
  region_names.assign(1, "");
  arrangements.assign(1, nullptr);
  std::fill(std::begin(shadow.disagrees), std::end(shadow.disagrees), 0u);
  for (unsigned w = 0; w < warps_; ++w) {
    const unsigned lanes = std::min(32u, threads_ - w * 32);
    warps[w].index = first_warp + w;
    warps[w].local = w;
    warps[w].lanes = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps[w].log.costs = config.count_by_line ? &cluster.costs : nullptr;
  }
  for (unsigned i = 0; i < threads_; ++i) {
    Fiber& f = stacks_.fiber(i);
    f.home = this;
    f.its_warp = &warps[i / 32];
    f.lane = i % 32, f.index = i;
    f.counters = &counters;
    f.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    f.block_size = size, f.grid = config.grid;
    f.cluster_rank = rank, f.cluster_size = config.cluster;
    f.engine = &engine();
  }
}

void Block::begin(std::uint64_t linear_index) {
  const LaunchConfig& config = *cluster.launch().config;
  linear = linear_index;
  const dim3 index = {unsigned(linear % config.grid.x), unsigned(linear / config.grid.x % config.grid.y),
                      unsigned(linear / config.grid.x / config.grid.y % config.grid.z)};
  std::memset(memory, 0xFF, config.shared_bytes);
  shadow.reset(config.shared_bytes);
  additions.clear();
  shared_arrivals.clear();
  parts.clear();
  async.reset();
  mbarriers = {};
  tensor.reset();
  touches.clear();
  acquired.clear();
  live_ = threads_;
  random_ = config.schedule ? config.schedule * 0x9E3779B97F4A7C15ull + linear : 0;
  ready_warps_ = warps_ == 32 ? ~0u : (1u << warps_) - 1;
  current_warp_ = 0;
  for (NamedBarrier& b : barriers) {
    b.arrived = b.warps = b.rounds = b.strays = 0;
    std::fill(std::begin(b.came_before), std::end(b.came_before), 0u);
  }
  for (Warpgroup& g : warpgroups) g.agent = g.arrived = 0;
  free_registers = 0;
  for (unsigned w = 0; w < warps_; ++w) {
    Warp& warp = warps[w];
    warp.ready = warp.lanes;
    warp.returned = warp.met = warp.synced_lanes = warp.diverged = 0;
    std::fill(warp.clock.time, warp.clock.time + cluster.warps(), 1u);
    std::fill(warp.clock.time + cluster.warps(), std::end(warp.clock.time), 0u);
    std::fill(warp.clock.visible[0], warp.clock.visible[0] + 2 * shadow::max_warps, 1u);
    warp.pairs.reset();
    warp.collectives.clear();
    warp.minimum = warp.synced = 1;
    warp.left_first = nullptr;
    warp.registers = config.registers ? config.registers : std::min(255u, 65536 / (warps_ * 32) / 8 * 8);
  }
  for (unsigned i = 0; i < threads_; ++i) {
    Fiber& f = stacks_.fiber(i);
    f.block = index;
    f.watch_poison = false;
    f.state = Fiber::State::ready;
    f.arrived_at_cluster = false;
    std::fill(std::begin(f.together), std::end(f.together), 0u);
    f.site = {};
    f.copies.clear();
    f.copy_groups.clear();
    f.uncommitted = f.init_fenced_at = 0;
    f.in_flight.reset();
    f.released.reset();
    f.acquired_at = nullptr;
    f.relaxed_read = {};
    f.called_from = {};
    f.carry = false;
    f.spins_at = 0;
    f.context = stacks_.fresh_context(i, start);
  }
}

// Returns a random lane of a random ready warp, and marks it as running.
Fiber* Block::next_at_random() {
  const auto any = [&](std::uint32_t bits) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    for (unsigned skip = unsigned((random_ >> 32) % unsigned(std::popcount(bits))); skip; --skip) bits &= bits - 1;
    return unsigned(std::countr_zero(bits));
  };
  Warp& w = warps[any(ready_warps_)];
  const unsigned lane = any(w.ready);
  w.ready &= ~(1u << lane);
  if (!w.ready) ready_warps_ &= ~(1u << w.local);
  Fiber& f = stacks_.fiber(w.local * 32 + lane);
  f.state = Fiber::State::ready;
  return &f;
}

bool Block::wake(Fiber::State state) {
  bool any = false;
  for (unsigned i = 0; i < threads_; ++i) {
    const Fiber& f = stacks_.fiber(i);
    if (f.state != state) continue;
    make_ready(*f.its_warp, 1u << f.lane);
    any = true;
  }
  return any;
}

void Block::end() {
  for (unsigned w = 0; w < warps_; ++w) warps[w].log.flush(counters);
  if (cluster.live) return;  // the cluster was aborted
  check_parts(*this);
  check_barriers(*this);
}

void Block::start(Transfer t) {
  arrived(t);
  Fiber& f = static_cast<Fiber&>(self());
  Cluster& cluster = f.home->cluster;
  try {
    const LaunchState& launch = cluster.launch();
    launch.body(launch.ranks ? launch.ranks[f.home->rank] : launch);
  } catch (...) {
    cluster.error = std::current_exception();
  }
  if (cluster.error) f.home->abandon(f);
  f.home->finish(f);
}

void Block::finish(Fiber& f) {
  Warp& w = *f.its_warp;
  if (f.in_flight) finish_stores(f, ~0u);
  f.state = Fiber::State::returned;
  w.returned |= 1u << f.lane;
  if (!w.left_first)
    w.left_first = &f;
  else
    check_together(f, *w.left_first);
  --live_;
  --cluster.live;
  cluster.polled = 0;
  leave_syncwarp(f);
  leave_collectives(f);
  if (!live_) {
    check_registers(*this);
    check_departure(*this);
    tensor.check_freed(*this);
  }
  cluster.left(f);
  Fiber* other = next();
  switch_context(f.context, other ? other->context : cluster.scheduler);
  __builtin_unreachable();
}

void Block::abandon(Fiber& f) {
  cluster.abandoned = true;
  switch_context(f.context, cluster.scheduler);
  __builtin_unreachable();
}

const Region* Block::shared(Fiber& f, const char* name, unsigned offset, unsigned bytes, Site site) {
  unsigned char* begin = memory + offset;
  for (const auto& r : regions_)
    if (r->name == name && r->begin == begin && r->bytes == bytes && !r->arrangement) return r.get();
  if (offset > shared_bytes || bytes > shared_bytes - offset)
    stop(f, Finding::Kind::out_of_bounds, name, site,
         "of shared tensor {}: it lies at bytes {}..{} of shared memory at \1, the launch gives a block {}", name,
         offset, std::uint64_t(offset) + bytes, shared_bytes);
  auto region = std::make_unique<Region>();
  region->name = name, region->begin = begin, region->bytes = bytes, region->space = Space::shared;
  region->shadow = this;
  std::size_t id = 1;
  while (id < region_names.size() && std::strcmp(region_names[id], name) != 0) ++id;
  if (id == region_names.size()) region_names.push_back(name);
  region->id = std::uint16_t(id);
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

const Region* Block::region_of(Fiber& f, const void* p, Site site) {
  const auto* const at = static_cast<const unsigned char*>(p);
  if (at >= memory && at < memory + shared_bytes) return shared(f, "shared memory", 0, shared_bytes, site);
  for (unsigned i = 0; i < cluster.launch().argument_count; ++i) {
    const Region* const r = cluster.launch().arguments[i].region;
    if (r && at >= r->begin && at < r->begin + r->bytes) return r;
  }
  fail_at(f, nullptr, site,
          "an instruction gets a raw pointer into no tensor of the launch, nor into the block's dynamic shared memory");
  abandon(f);
}

const Region* Block::arranged(const Region& from, const Arrangement& a, const Parts* of) {
  std::size_t i = 1;
  while (i < arrangements.size() && arrangements[i] != &a) ++i;
  if (i == arrangements.size()) {
    if (i >= 64) return &from;  // SharedShadow has 64 bits per layout
    arrangements.push_back(&a);
    for (std::size_t o = 1; o < i; ++o)
      if (!a.agrees(*arrangements[o]))
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

std::string Block::spell(unsigned thread) { return fmt::format("thread {} (warp {})", thread, thread / 32); }

std::string Block::spell_block(std::uint64_t linear_index) const {
  const dim3& grid = cluster.launch().config->grid;
  const std::uint64_t plane = linear_index / grid.x / grid.y;
  std::string text =
      fmt::format("block ({},{},{})", linear_index % grid.x, linear_index / grid.x % grid.y, plane % grid.z);
  return cluster.launch().ranks ? fmt::format("{} of rank {}", text, plane / grid.z) : text;
}

std::string Block::who(unsigned thread) const { return spell(thread) + " of " + name(); }

std::vector<std::uintptr_t> Block::walk(const Fiber& f, Site site) const {
  return callers(site, stacks_.low(f.index), stacks_.high(f.index));
}

void Block::add_finding(const Fiber& f, Finding::Kind kind, const char* tensor, const Where& at, std::string text) {
  RawFinding raw{kind, tensor ? tensor : "", std::move(text), {walk(f, at.site)}, linear, at.only_between_lines};
  if (at.other_site) raw.sites.push_back({at.other_site});
  raw.missing = at.missing;
  findings.add(std::move(raw));
}

}  // namespace zellige::emulate
