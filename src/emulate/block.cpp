// Starts, ends and resets the threads of a block.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulate/cluster.hpp"
#include "graph/error.hpp"

namespace zellige::emulate {

Block::Block(Cluster& of, unsigned its_rank)
    : cluster(of), rank(its_rank), counters(of.counters), findings(of.findings) {}

void Block::prepare(const LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  launch_ = &launch;
  in_cluster = cluster.size() > 1 ? &cluster : nullptr;
  fences = &cluster.fences;
  threads_ = config.block.x * config.block.y * config.block.z;
  warps_ = (threads_ + 31) / 32;
  first_warp = rank * warps_;
  first_thread = first_warp * 32;
  shared_bytes = config.shared_bytes;
  stacks_.reserve(threads_);
  if (!config.shared_memory && (storage_bytes_ < config.shared_bytes + 1024 || !storage_)) {
    storage_bytes_ = config.shared_bytes + 1024;
    storage_.reset(new unsigned char[storage_bytes_]);
  }
  unsigned char* const from = config.shared_memory ? config.shared_memory() : storage_.get();
  memory = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(from) + 1023) / 1024 * 1024);
  if (config.shared_memory && memory != from)
    fail("emulator: the kernel's shared memory lies {} bytes above a multiple of 1024; alignas(1024) puts it on one",
         reinterpret_cast<std::uintptr_t>(from) % 1024);
  regions_.clear();
  region_names.assign(1, "");
  arrangements_.assign(1, nullptr);
  std::fill(std::begin(shadow.disagrees), std::end(shadow.disagrees), 0u);
}

void Block::begin(std::uint64_t linear_index) {
  const LaunchConfig& config = *launch_->config;
  linear = linear_index;
  const dim3 index = {unsigned(linear % config.grid.x), unsigned(linear / config.grid.x % config.grid.y),
                      unsigned(linear / config.grid.x / config.grid.y)};
  std::memset(memory, 0xFF, config.shared_bytes);
  shadow.reset(config.shared_bytes);
  parts.clear();
  async.reset();
  mbarriers.clear();
  mbarriers_from = ~0u, mbarriers_to = 0;
  touches.clear();
  acquired.clear();
  live_ = threads_;
  random_ = config.schedule ? config.schedule * 0x9E3779B97F4A7C15ull + linear : 0;
  ready_warps_ = warps_ == 32 ? ~0u : (1u << warps_) - 1;
  current_warp_ = 0;
  for (NamedBarrier& b : barrier_) {
    b.arrived = b.warps = b.rounds = b.strays = 0;
    std::fill(std::begin(b.came_before), std::end(b.came_before), 0u);
  }
  for (GroupConvergence& g : group_) g.arrived = 0;
  std::fill(std::begin(wgmma_agent_), std::end(wgmma_agent_), 0u);
  const unsigned registers = config.registers ? config.registers : std::min(255u, 65536 / (warps_ * 32) / 8 * 8);
  std::fill(std::begin(registers_), std::end(registers_), registers);
  pool_ = 0;
  for (unsigned w = 0; w < warps_; ++w) {
    Warp& warp = warp_[w];
    const unsigned lanes = std::min(32u, threads_ - w * 32);
    warp.index = first_warp + w;
    warp.local = w;
    warp.lanes = warp.ready = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.returned = warp.met = warp.synced_lanes = 0;
    std::fill(warp.clock.time, warp.clock.time + cluster.warps(), 1u);
    std::fill(warp.clock.time + cluster.warps(), std::end(warp.clock.time), 0u);
    std::fill(warp.clock.visible[0], warp.clock.visible[0] + 2 * max_warps, 1u);
    warp.pairs.reset();
    warp.minimum = warp.synced = 1;
    warp.diverged = 0;
    warp.left_first = nullptr;
  }
  dim3 position{0, 0, 0};
  for (unsigned i = 0; i < threads_; ++i) {
    Fiber& f = stacks_.fiber(i);
    f.home = this;
    f.its_warp = &warp_[i / 32];
    f.lane = i % 32;
    f.index = i;
    f.counters = &counters;
    f.thread = position;
    f.block = index;
    f.block_size = config.block;
    f.grid = config.grid;
    f.cluster_rank = rank;
    f.cluster_size = config.cluster;
    f.watch_poison = false;
    f.state = Fiber::State::ready;
    f.arrived_at_cluster = false;
    f.init_fenced_at = 0;
    std::fill(std::begin(f.together), std::end(f.together), 0u);
    f.site = {};
    f.copies.clear();
    f.group_ends.clear();
    f.landed_copies = f.landed_groups = 0;
    f.in_flight.reset();
    f.engine = &engine();
    f.context = stacks_.fresh_context(i, start);
    if (++position.x == config.block.x) position.x = 0, ++position.y;
    if (position.y == config.block.y) position.y = 0, ++position.z;
  }
}

// Returns a random lane of a random ready warp, and marks it as running.
Fiber* Block::next_at_random() {
  const auto any = [&](std::uint32_t bits) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    for (unsigned skip = unsigned((random_ >> 32) % unsigned(std::popcount(bits))); skip; --skip) bits &= bits - 1;
    return unsigned(std::countr_zero(bits));
  };
  Warp& w = warp_[any(ready_warps_)];
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
  for (unsigned w = 0; w < warps_; ++w) warp_[w].log.flush(counters);
  check_parts();
  check_barriers();
}

void Block::start(Transfer t) {
  arrived(t);
  Fiber& f = static_cast<Fiber&>(self());
  try {
    f.home->launch_->body(*f.home->launch_);
  } catch (...) {
    f.home->cluster.error = std::current_exception();
  }
  if (f.home->cluster.error) f.home->abandon(f);
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
  for (std::uint32_t left = w.synced_lanes; left;) {  // whoever waited for this lane waits no more
    const std::uint32_t group = sync_group(w, unsigned(std::countr_zero(left)));
    left &= ~(group ? group : left & -left);
    if (!group) continue;
    complete_sync_warp(w, group);
    make_ready(w, group);
  }
  if (!live_) leave();
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

}  // namespace zellige::emulate
