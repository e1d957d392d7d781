#include "kernel/kernel.hpp"

#include "graph/error.hpp"

namespace zellige::kernel {

std::string_view name(Synchronisation by) {
  static constexpr std::string_view names[] = {"block_barrier", "named_barrier", "cp_async_group",   "mbarrier_bytes",
                                               "commit_group",  "bulk_group",    "mbarrier_cluster", "mbarrier_commit"};
  static_assert(std::size(names) == std::size_t(Synchronisation::mbarrier_commit) + 1);
  if (by <= Synchronisation::mbarrier_commit) return names[std::size_t(by)];
  fail("kernel: {} is no synchronisation; the last is mbarrier_commit", static_cast<int>(by));
}

Synchronisation synchronisation(Completion completion) {
  using enum Synchronisation;
  static constexpr Synchronisation of[] = {block_barrier, cp_async_group, mbarrier_bytes, bulk_group, commit_group};
  return of[static_cast<std::size_t>(completion)];
}

int Kernel::stages() const {
  int largest = 1;
  for (const SmemTensor& t : tensors) largest = std::max(largest, t.stages);
  return largest;
}

const Work* Kernel::product_of(int node) const {
  if (program.nodes[node].kind != tile::NodeKind::matmul) return nullptr;
  return find_work(
      *this, [&](const Work& w) { return w.node == node && (w.kind == WorkKind::mma || w.kind == WorkKind::reduce); });
}

const CopyChoice* Kernel::copy_of(int node) const {
  const Work* work = find_work(*this, [&](const Work& w) {
    return w.node == node && (is_global_load(w.kind) || w.kind == WorkKind::to_global);
  });
  return work ? &work->copy : nullptr;
}

bool Kernel::uses_tma(int node) const {
  const CopyChoice* copy = copy_of(node);
  return copy && copy->by_tensor_map();
}

int Kernel::vector_of(int node) const {
  const GmemTensor* read = in_place(node);
  const CopyChoice* copy = copy_of(node);
  return read ? read->vector : copy ? copy->vector : 1;
}

std::int64_t barrier_bytes(const Channel& c) {
  constexpr std::int64_t mbarrier_bytes_each = 8;
  if (is_exchange(c)) return mbarrier_bytes_each;
  // A full and an empty barrier per stage.
  return has_stages(c) ? 2 * mbarrier_bytes_each * c.stages : 0;
}

std::vector<Work> works(const Kernel& k) {
  std::vector<Work> all;
  all.reserve(16);  // more than most kernels do
  for (const Agent& agent : k.agents)
    walk(agent.steps, [&](const Step& step, const StepPosition&) {
      if (step.work.node >= 0 && std::ranges::find(all, step.work) == all.end()) all.push_back(step.work);
    });
  return all;
}

int exchange_of(const Kernel& s, int tensor) {
  const auto of =
      std::ranges::find_if(s.channels, [&](const Channel& c) { return is_exchange(c) && c.tensor == tensor; });
  return of == s.channels.end() ? -1 : static_cast<int>(of - s.channels.begin());
}

int cluster_of(const Kernel& s, int channel) {
  const bool shared = find_step(s, [&](const Step& x) {
    const Copy* copy = as<Copy>(x);
    return copy && copy->multicast && copy->channel == channel;
  });
  return shared ? s.cluster : 1;
}

int arrivals_of(const Kernel& s, int channel) {
  for (const Step& step : s.setup)
    if (const MbarrierInit* init = as<MbarrierInit>(step); init && init->channel == channel) return init->arrivals;
  return 0;
}

bool consumes(const Channel& c, int agent) { return std::ranges::find(c.consumers, agent) != c.consumers.end(); }

int multiplies_into(const Kernel& k, const Agent& agent) {
  const Step* product = find_step(agent.steps, [&](const Step& s) {
    const Mma* mma = as<Mma>(s);
    return mma && mma->channel >= 0 && mma->channel < static_cast<int>(k.channels.size()) &&
           in_columns(k.channels[mma->channel]);
  });
  return product ? channel_of(*product) : -1;
}

int issuers(const Kernel& k, const Agent& agent) {
  if (multiplies_into(k, agent) >= 0) return 1;
  const auto of_all = [&](const Step& s) {
    return match(
        s,
        [&](const Copy& copy) {
          return copy.channel < 0 || k.channels[copy.channel].by != Synchronisation::mbarrier_bytes;
        },
        [](const OneOf<Acquire, Drain, GriddepWait, GriddepLaunchDependents, Loop> auto&) { return false; },
        [](const OneOf<Mma, Compute, Start, Commit, WaitGroup, Barrier, Release, MbarrierInit, FenceInit, FenceProxy,
                       WarpBarrier, ClusterBarrier> auto&) { return true; });
  };
  if (!find_step(agent.steps, of_all)) return 1;
  return k.warp_specialized() ? 32 * agent.warps : k.threads;
}

bool holds_rows(const Kernel& kernel) {
  return find_work(kernel, [&](const Work& t) {
    const bool complete = t.kind == WorkKind::finish && t.tensor < 0;
    return (complete || t.kind == WorkKind::to_registers) && !kernel.layout_of(t).row;
  });
}

int blocks_together(const Kernel& kernel, const target::Target& target, std::int64_t threads) {
  const std::int64_t registers = target.registers_per_multiprocessor / (kernel.registers * threads),
                     resident = target.threads_per_multiprocessor / threads,
                     shared =
                         target.shared_per_multiprocessor / (kernel.shared_bytes + target.shared_reserved_per_block);
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min({registers, resident, shared}), 1, target.blocks_per_multiprocessor));
}

std::int64_t MaskedLoopBounds::start(std::int64_t block) const {
  return from ? std::max<std::int64_t>(rows.start(block, 0) + *from, 0) / each : 0;
}

std::int64_t MaskedLoopBounds::of(std::int64_t block, std::int64_t loop) const {
  return std::min((rows.start(block, 0) + last) / each + 1, loop) - start(block);
}

std::int64_t MaskedLoopBounds::whole(std::int64_t block, std::int64_t loop) const {
  if (!all) return 0;
  const std::int64_t by_end = end ? *end / each : loop;
  return std::clamp<std::int64_t>(std::min((rows.start(block, 0) + *all) / each, by_end), 0, of(block, loop));
}

}  // namespace zellige::kernel
