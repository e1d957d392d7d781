// Schedules the blocks of a cluster, completes its asynchronous copies, and implements the cluster's barrier.
#include "emulate/cluster.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "emulate/block_reports.hpp"
#include "emulate/masked.hpp"
#include "graph/error.hpp"

namespace zellige::emulate {

void Cluster::prepare(const LaunchState& launch) {
  const LaunchConfig& config = *launch.config;
  launch_ = &launch;
  const unsigned ranks = launch.ranks ? unsigned(config.ranks.size()) : 1;
  const unsigned blocks = config.cluster.x * config.cluster.y * config.cluster.z * ranks;
  while (blocks_.size() > blocks) blocks_.pop_back();
  while (blocks_.size() < blocks) blocks_.push_back(std::make_unique<Block>(*this, unsigned(blocks_.size())));
  findings.clear();
  counters = {};
  costs.clear();
  places_.resize(blocks > 1 && !launch.ranks ? blocks : 0);  // ranks are ordered by their flags alone
  for (auto& b : blocks_) b->prepare(launch);
  warps_ = blocks * blocks_[0]->warp_count();
}

int Cluster::first_warp(std::uint32_t linear) const {
  for (const auto& b : blocks_)
    if (b->linear == linear) return int(b->first_warp);
  return -1;
}

std::uint32_t Cluster::new_agent() {
  if (agents_ == shadow::max_agents)
    fail("emulator: more than {} warps, mbarriers and asynchronous groups in one cluster", shadow::max_agents);
  for (const auto& b : blocks_)
    for (unsigned w = 0; w < b->warp_count(); ++w)
      if (shadow::Clock* const own = b->warps[w].own.get())
        for (unsigned lane = 0; lane < 32; ++lane) own[lane].time[agents_] = 0;  // no lane has observed it
  return agents_++;
}

std::string Cluster::spell(unsigned thread) const {
  const unsigned a_block = blocks_[0]->warp_count() * 32;
  const std::string who = Block::spell(thread % a_block);
  if (size() == 1) return who;
  return who + " of " + blocks_[thread / a_block]->name();
}

dim3 Cluster::first_block(std::uint64_t linear) const {
  const dim3 &grid = launch_->config->grid, &c = launch_->config->cluster;
  const std::uint64_t across = grid.x / c.x, down = grid.y / c.y;
  return {unsigned(linear % across * c.x), unsigned(linear / across % down * c.y),
          unsigned(linear / across / down * c.z)};
}

// Adds the findings that hold only if the cluster has done something else as well.
void Cluster::add_unordered() {
  const auto add = [&](bool holds, std::vector<RawFinding>& list) {
    if (holds)
      for (RawFinding& f : list) findings.add(std::move(f));
  };
  add(waits_for_previous, early);
  add(fences_tensors || !leaves_fences, unfenced_moves);
  add(fences_tensors, unfenced_commits);
}

bool Cluster::run(std::uint64_t linear) {
  const dim3 &grid = launch_->config->grid, &c = launch_->config->cluster, first = first_block(linear);
  const std::uint64_t x = first.x, y = first.y, z = first.z;
  agents_ = warps_;
  previous = agents_++;
  begun = agents_++;
  waits_for_previous = launch_->config->programmatic;
  early.clear();
  fences_tensors = leaves_fences = false;
  unfenced_moves.clear(), unfenced_commits.clear();
  refused = 0;
  error = nullptr;
  expired = false;
  time_ = 1;
  ops.assign(1, {});
  fences.resize(warps_ * 32);
  for (auto& f : fences) f[0].clear(), f[1].clear();
  landings_.clear();
  global_reads.clear();
  abandoned = false;
  live = arrived = 0;
  barrier_phase_ = 0;
  observed_.clear(shadow::max_agents);
  released_.clear(shadow::max_agents);
  takes_turns = launch_->ranks && launch_->config->schedule;
  random_ = launch_->config->schedule * 0x9E3779B97F4A7C15ull + linear;
  for (unsigned r = 0; r < blocks_.size(); ++r) {
    if (launch_->ranks) {
      blocks_[r]->begin(linear + r * (std::uint64_t(grid.x) * grid.y * grid.z));
      live += blocks_[r]->thread_count();
      continue;
    }
    const std::uint64_t bx = x + r % c.x, by = y + r / c.x % c.y, bz = z + r / c.x / c.y;
    blocks_[r]->begin(bx + grid.x * (by + grid.y * bz));
    if (!places_.empty()) places_[r] = {std::uint32_t(blocks_[r]->linear), std::uint16_t(blocks_[r]->first_warp)};
    live += blocks_[r]->thread_count();
  }
  current_ = 0;
  polled = 0, idle_ = 0;
  const SignalWatch watch(*this, launch_->config->seconds);
  while (live) {
    Fiber* f = next();
    if (!f) {
      if (gather() || land_one() || wake_pollers() || unstick()) continue;
      break;
    }
    switch_context(scheduler, f->context);
    if (abandoned || interrupted) break;
    if (expired) {
      report_all(Finding::Kind::endless, fmt::format("within {} seconds of", launch_->config->seconds));
      break;
    }
  }
  if (error) std::rethrow_exception(error);
  add_unordered();
  for (auto& b : blocks_) b->end();
  return !live;
}

Fiber* Cluster::next() {
  if (takes_turns) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    // With an odd seed one rank after another runs as far as it can for a while, so that it gets to later steps than the others.
    if (launch_->config->schedule % 2 == 0 || random_ >> 58 == 0)
      favourite_ = unsigned((random_ >> 32) % blocks_.size());
    current_ = favourite_;
    // Now and then those that wait for memory look while others run: they may see each value that it has.
    if ((random_ >> 40) % 16 == 0)
      for (auto& b : blocks_) b->wake(Fiber::State::polling), b->wake(Fiber::State::spinning);
  }
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    const unsigned r = (current_ + i) % unsigned(blocks_.size());
    if (!blocks_[r]->any_ready()) continue;
    current_ = r;
    return blocks_[r]->next();
  }
  return nullptr;
}

bool Cluster::land_one() {
  if (landings_.empty()) return false;
  const Landing landing = std::move(landings_.front());
  landings_.pop_front();
  polled = 0;
  shadow::AsyncOp& op = ops[landing.op];
  Block& block = *blocks_[op.block];
  op.landed = true;
  if (op.kind == shadow::AsyncOp::Kind::tcgen05_commit) return land_commit(landing), true;
  for (std::size_t i = 0; i < landing.to->size(); ++i)
    std::memcpy(block.memory + (*landing.to)[i], landing.data->data() + i * landing.chunk, landing.chunk);
  MBarrier* const barrier = blocks_[op.block_of_barrier()]->mbarriers.find(op.barrier);
  if (!barrier || !barrier->valid) return true;
  if (landing.after_wait) barrier->observed.time[previous] = 1;
  for (const auto& [agent, time] : landing.ends) {
    std::uint32_t& observed = barrier->observed.time[agent];
    observed = std::max(observed, time);
  }
  op.agent = barrier->agent;
  op.epoch = barrier->ended;
  complete_bytes(*this, *barrier, std::int64_t(landing.data->size()));
  return true;
}

// Arrives once at the mbarrier of a tcgen05.commit.
void Cluster::land_commit(const Landing& landing) {
  const shadow::AsyncOp& op = ops[landing.op];
  MBarrier* const barrier = blocks_[op.block]->mbarriers.find(op.barrier);
  if (!barrier || !barrier->valid || !barrier->pending) return;
  if (landing.after_wait) barrier->observed.time[previous] = 1;
  for (const auto& [agent, time] : landing.ends) {
    std::uint32_t& observed = barrier->observed.time[agent];
    observed = std::max(observed, time);
  }
  --barrier->commits;
  barrier->came.push_back({~0u, op.thread});  // no other thread observes it but by the end of the phase
  --barrier->pending;
  complete_bytes(*this, *barrier, 0);
}

// Another worker's block may change the memory that all threads of this cluster wait for. Waits a while for that; returns
// false if for a while no other worker has run either.
bool Cluster::others_run() {
  if (!launch_->busy) return false;
  --*launch_->busy;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  idle_ = *launch_->busy > 0 ? 0 : idle_ + 1;
  ++*launch_->busy;
  return idle_ < 20;
}

bool Cluster::wake_pollers() {
  if (polled > 1000 && !others_run()) return false;
  bool any = false;
  for (auto& b : blocks_)
    for (const Fiber::State state : {Fiber::State::polling, Fiber::State::spinning}) any |= b->wake(state);
  ++polled;
  return any;
}

bool Cluster::gather() {
  bool any = false;
  for (auto& b : blocks_) any |= gather_lanes(*b);
  return any;
}

void Cluster::arrive(Fiber& f, bool release, Site site) {
  Block& b = *f.home;
  if (f.arrived_at_cluster)
    b.stop(f, Finding::Kind::barrier_divergence, nullptr, site,
           "{} arrives at the cluster's barrier at \1 for the second time without a cluster_wait between",
           b.who(f.index));
  f.arrived_at_cluster = true;
  f.cluster_phase = barrier_phase_;
  if (release) {
    start_epoch(f);
    observed_.join(known(f), agents_);
  } else if (f.init_fenced_at) {  // the fence has released the mbarriers that were initialised before it
    std::uint32_t& time = observed_.time[f.its_warp->index];
    time = std::max(time, f.init_fenced_at);
  }
  ++arrived;
  if (arrived == live) complete();
}

void Cluster::wait(Fiber& f, Site site) {
  Block& b = *f.home;
  if (!f.arrived_at_cluster)
    b.stop(f, Finding::Kind::barrier_divergence, nullptr, site,
           "{} reaches cluster_wait at \1 without a cluster_arrive before it", b.who(f.index));
  // The barrier completes when its last thread arrives; if that was earlier, this thread need not wait.
  if (f.cluster_phase == barrier_phase_) b.suspend(f, Fiber::State::at_cluster, site);
  f.arrived_at_cluster = false;
  hear(f, released_);
  hear(f, begun, 1);
}

void Cluster::complete() {
  ++counters[Counter::cluster_barrier];
  ++barrier_phase_;
  arrived = 0;
  released_.assign(observed_, agents_);
  observed_.clear(agents_);
  for (auto& b : blocks_) b->wake(Fiber::State::at_cluster);
}

// An asynchronous copy passes these pairs on because it completes after the thread's own waits, for example for an
// empty stage. Other components of the clock are not passed on, because a copy does not order ordinary accesses.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Cluster::ends_known(const shadow::Clock& known) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const auto& b : blocks_)
    for (const auto& [at, barrier] : b->mbarriers.all)
      if (!barrier.counts_bytes && known.time[barrier.agent])
        ends.emplace_back(barrier.agent, known.time[barrier.agent]);
  return ends;
}

void Cluster::left(const Fiber& f) {
  if (f.arrived_at_cluster && f.cluster_phase == barrier_phase_) --arrived;
  if (arrived && arrived == live) complete();
}

bool Cluster::unstick() {
  for (auto& b : blocks_)
    if (report_convergence(*b)) return false;
  if (size() == 1 && emulate::unstick(*blocks_[0])) return true;
  report_all(Finding::Kind::deadlock, "of");
  return false;
}

void Cluster::report_all(Finding::Kind kind, std::string head) {
  RawFinding raw{kind, "", std::move(head), {}, blocks_[0]->linear};
  unsigned ranges = 0;
  std::uintptr_t first_site = 0;
  for (auto& b : blocks_)
    if (b->live()) report_deadlock(*b, raw, ranges, first_site);
  if (findings.fresh(kind, nullptr, first_site)) findings.add(std::move(raw));
}

Fiber* Cluster::fiber_at(std::uintptr_t stack) {
  for (auto& b : blocks_)
    if (Fiber* f = b->fiber_at(stack)) return f;
  return nullptr;
}

}  // namespace zellige::emulate
