#include "plan/memory.hpp"

#include <algorithm>
#include <limits>

#include "plan/packing.hpp"

namespace zellige::plan {
namespace {

/// The stretch between two barriers in which each task runs: 0 before and inside the loop, then one a phase.
std::vector<int> stretches(const KernelPlan& plan) {
  std::vector<int> at(plan.tasks.size(), 0);
  int step = plan.after_barrier ? 1 : 0;
  for (const auto& phase : plan.after) {
    for (int t : phase) at[t] = step;
    ++step;
  }
  return at;
}

std::int64_t pack_buffers(KernelPlan& plan) {
  const std::vector<int> at = stretches(plan);
  std::vector<Lifetime> lives;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    Lifetime life{plan.buffers[b].bytes, 1 << 20, 0, 128};
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      const Task& task = plan.tasks[t];
      const bool reads =
          std::find(task.reads.begin(), task.reads.end(), static_cast<int>(b)) != task.reads.end();
      if (!reads && task.buffer != static_cast<int>(b)) continue;
      life.begin = std::min<std::int64_t>(life.begin, at[t]);
      life.end = std::max<std::int64_t>(life.end, at[t] + 1);
    }
    if (life.begin >= life.end) life.begin = 0, life.end = 1;
    lives.push_back(life);
  }
  const Packing packing = pack(lives);
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) plan.buffers[b].offset = packing.offset[b];
  return packing.peak;
}

}  // namespace

bool place_buffers(KernelPlan& plan, const target::Target& target) {
  plan.shared_bytes = pack_buffers(plan);
  if (plan.shared_bytes > target.shared_per_block && !plan.after_barrier && plan.program.loop > 1 &&
      !plan.after.empty()) {
    plan.after_barrier = true;  // one more barrier lets what follows the loop reuse the loop's buffers
    plan.shared_bytes = pack_buffers(plan);
    plan.notes.push_back("a barrier behind the loop lets its shared memory be used again");
  }
  return plan.shared_bytes <= target.shared_per_block;
}

void require_buffers(KernelPlan& plan, const target::Target& target) {
  if (!place_buffers(plan, target))
    fail(
        "{}: its tiles need {} bytes of shared memory, {} has {} for a block; smaller tiles or a longer loop "
        "would fit",
        plan.program.name, plan.shared_bytes, target.name, target.shared_per_block);
}

DevicePlacement place_tensors(const Program& program) {
  const int n = static_cast<int>(program.tensors.size());
  DevicePlacement result{std::vector<std::int64_t>(n, -1), std::vector<std::int64_t>(n, 0), 0};
  std::vector<Lifetime> lives;
  std::vector<int> which;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<Lifetime> used(n, {0, never, 0, 256});
  for (std::size_t k = 0; k < program.kernels.size(); ++k)
    for (const Node& node : program.kernels[k].nodes) {
      if (node.tensor < 0) continue;
      Lifetime& life = used[node.tensor];
      life.begin = std::min(life.begin, static_cast<std::int64_t>(k)),
      life.end = static_cast<std::int64_t>(k) + 1;
    }
  std::vector<bool> callers(n, false);  // memory, not the workspace
  for (const auto* list : {&program.inputs, &program.outputs})
    for (int t : *list) callers[t] = true;
  for (int t = 0; t < n; ++t) {
    const auto& tensor = program.tensors[t];
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d)
      elements += (tensor.shape[d] - 1) * tensor.strides[d];
    result.bytes[t] = elements * graph::bytes(tensor.dtype);
    if (callers[t]) continue;
    Lifetime life = used[t];
    life.size = result.bytes[t];
    if (life.begin >= life.end) life.begin = 0, life.end = 1;
    lives.push_back(life);
    which.push_back(t);
  }
  const Packing packing = pack(lives);
  for (std::size_t i = 0; i < which.size(); ++i) result.offset[which[i]] = packing.offset[i];
  result.total = (packing.peak + 255) / 256 * 256;
  return result;
}

}  // namespace zellige::plan
