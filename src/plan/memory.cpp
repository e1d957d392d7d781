#include "plan/memory.hpp"

#include <algorithm>
#include <limits>

#include "kernel/tensor_columns.hpp"
#include "plan/packing.hpp"

namespace zellige::plan {
namespace {

/// Returns, per tensor of the kernel, its size, its alignment (1024 bytes if TMA uses the tensor, else
/// 128) and the interval of time in which it is accessed.
///
/// Time counts the barriers at which the complete block synchronises. Producers (warp roles that only fill
/// shared-memory rings) are ignored: they need not take part in these barriers, because the consumers wait
/// for each of their writes. A loop, its back edge included, is one interval. Orderings by mbarriers and
/// named barriers are ignored.
std::vector<Lifetime> lifetimes(const kernel::Kernel& s) {
  std::vector<Lifetime> lives;
  for (const kernel::SmemTensor& t : s.tensors)
    lives.push_back({t.bytes(), std::numeric_limits<int>::max(), 0, s.uses_tma(t.node) ? 1024 : 128});
  const auto others =
      std::ranges::count_if(s.agents, [&](const kernel::Agent& a) { return kernel::issuers(s, a) > 1; });
  for (const kernel::Agent& agent : s.agents) {
    if (kernel::issuers(s, agent) == 1) continue;
    std::int64_t stretch = 0;
    const auto touch = [&](const auto& self, const std::vector<kernel::Step>& steps, bool in_loop) -> void {
      for (const kernel::Step& step : steps) {
        const kernel::Barrier* barrier = kernel::as<kernel::Barrier>(step);
        if (barrier && barrier->waits && (barrier->id == 0 || others == 1) && !in_loop) ++stretch;
        for (const auto* accesses : {&step.reads, &step.writes})
          for (const kernel::Access& a : *accesses) {
            Lifetime& life = lives[a.tensor];
            life.begin = std::min(life.begin, stretch);
            life.end = std::max(life.end, stretch + 1);
          }
        if (const kernel::Loop* loop =
                kernel::as<kernel::Loop>(step))  // persistent blocks with one tile each: not a loop
          self(self, loop->body, in_loop || loop->kind != kernel::Loop::tiles || loop->trip_count > 1);
      }
    };
    touch(touch, agent.steps, false);
  }
  for (Lifetime& life : lives)
    if (life.begin >= life.end) life.begin = 0, life.end = 1;
  return lives;
}

}  // namespace

bool place_buffers(kernel::Kernel& plan, const target::Target& target) {
  const Packing packing = pack(lifetimes(plan));
  for (std::size_t b = 0; b < plan.tensors.size(); ++b) plan.tensors[b].offset = packing.offset[b];
  plan.shared_bytes = packing.peak;
  for (kernel::Channel& c : plan.channels)
    if (const std::int64_t bytes = kernel::barrier_bytes(c); bytes > 0) {
      c.offset = (plan.shared_bytes + 15) / 16 * 16;
      plan.shared_bytes = c.offset + bytes;
    }
  if (const std::int64_t bytes = kernel::tensor_columns(plan).shared_bytes(); bytes > 0)
    plan.shared_bytes = (plan.shared_bytes + 15) / 16 * 16 + bytes;
  return plan.shared_bytes <= target.shared_per_block;
}

DevicePlacement place_tensors(const tile::TilePrograms& program, const std::vector<kernel::Kernel>& kernels) {
  // Small, because each candidate tiling of a program needs a placement.
  constexpr std::int64_t effort = 20'000;
  const int n = static_cast<int>(program.tensors.size());
  DevicePlacement result{std::vector<std::int64_t>(n, -1), std::vector<std::int64_t>(n, 0), 0};
  std::vector<Lifetime> lives;
  std::vector<int> which;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<Lifetime> used(n, {0, never, 0, 256});
  std::vector<std::int64_t> room(n, 0);  // elements of padding after the last line, which stores may change
  std::int64_t launch = -1;              // the kernels of one launch run at the same time
  for (const tile::TileProgram& kernel : program.kernels) {
    if (!kernel.same_launch || launch < 0) ++launch;
    for (const tile::Node& node : kernel.nodes) {
      if (node.tensor < 0) continue;
      Lifetime& life = used[program.memory_of(node.tensor)];
      life.begin = std::min(life.begin, launch), life.end = launch + 1;
    }
  }
  for (const kernel::Kernel& kernel : kernels)
    for (const tile::Node& node : kernel.program.nodes)
      for (int d = 0; node.kind == tile::NodeKind::store && d < node.view.rank(); ++d)
        room[program.memory_of(node.tensor)] = std::max(room[program.memory_of(node.tensor)], node.view.room(d));
  // By tensor: true for inputs and outputs, whose memory the caller passes, so that they are not in the workspace.
  std::vector<bool> callers(n, false);
  for (const auto* list : {&program.inputs, &program.outputs})
    for (int t : *list) callers[t] = true;
  for (int t = 0; t < n; ++t) {
    const auto& tensor = program.tensors[t];
    if (program.views.count(t)) continue;
    if (used[t].begin == never && !callers[t]) continue;  // no kernel accesses it
    result.bytes[t] = graph::bytes_of(graph::span(tensor.shape, tensor.strides) + room[t], tensor.dtype);
    if (callers[t]) continue;
    Lifetime life = used[t];
    life.size = result.bytes[t];
    if (life.begin >= life.end) life.begin = 0, life.end = 1;
    lives.push_back(life);
    which.push_back(t);
  }
  const Packing packing = pack(lives, effort);
  for (std::size_t i = 0; i < which.size(); ++i) result.offset[which[i]] = packing.offset[i];
  result.total = (packing.peak + 255) / 256 * 256;
  return result;
}

}  // namespace zellige::plan
