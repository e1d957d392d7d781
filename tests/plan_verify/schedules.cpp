#include "schedules.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "ir/ir.hpp"
#include "verify/proofs.hpp"
#include "verify/set_up.hpp"

namespace zellige::plan {

kernel::Kernel one_agent(std::vector<std::string> tensors, std::vector<kernel::Step> steps) {
  kernel::Kernel s{.threads = 128};
  for (std::string& name : tensors)
    s.tensors.push_back(tensor(name, 1024 * static_cast<std::int64_t>(s.tensors.size()), 1024));
  s.agents = {{.name = "block", .warps = 4, .steps = std::move(steps)}};
  return s;
}

kernel::Kernel sm80_matmul(int stages, std::int64_t trip_count) {
  constexpr int sA = 0, sB = 1, sP = 2, ring = 0;
  const std::int64_t bytes = 4096;
  kernel::Kernel s{.threads = 128};
  s.tensors = {tensor("sA", 0, bytes * stages, stages), tensor("sB", bytes * stages, bytes * stages, stages),
               tensor("sP", 0, bytes)};
  s.channels = {{.name = "ring",
                 .tensor = sA,
                 .stages = stages,
                 .producer = 0,
                 .consumers = {0},
                 .by = kernel::Synchronisation::cp_async_group}};
  std::vector<kernel::Step> steps;
  for (int p = 0; p < stages - 1; ++p) {
    steps.push_back(load("load A", {.tensor = sA, .lag = p}, ring, p));
    steps.push_back(load("load B", {.tensor = sB, .lag = p}, ring, p));
    steps.push_back(commit());
  }
  steps.push_back(loop(trip_count));
  steps.push_back(wait_group(stages - 2));
  steps.push_back(barrier());
  steps.push_back(load("load A early", {.tensor = sA, .lag = stages - 1}, ring, stages - 1));
  steps.push_back(load("load B early", {.tensor = sB, .lag = stages - 1}, ring, stages - 1));
  steps.push_back(commit());
  steps.push_back(work("mma", {{.tensor = sA}, {.tensor = sB}}, {}));
  steps.push_back(end());
  steps.push_back(barrier());
  steps.push_back(work("write partials", {}, {{.tensor = sP}}));
  steps.push_back(barrier());
  steps.push_back(work("add partials", {{.tensor = sP}}, {}));
  s.agents = {{.name = "block", .warps = 4, .steps = std::move(steps)}};
  return s;
}

kernel::Kernel hopper_matmul(std::int64_t trip_count) {
  constexpr int sA = 0, sB = 1, sC = 2, ring = 0, sums = 1, out = 2, producer = 0, consumer = 1, stages = 4;
  constexpr std::int64_t K = 1024;
  kernel::Kernel s{.threads = 384};
  s.tensors = {tensor("sA", 0, 64 * K, stages), tensor("sB", 64 * K, 64 * K, stages), tensor("sC", 128 * K, 32 * K)};
  s.channels = {{.name = "ring",
                 .tensor = sA,
                 .stages = stages,
                 .producer = producer,
                 .consumers = {consumer},
                 .by = kernel::Synchronisation::mbarrier_bytes},
                {.name = "accumulators",
                 .producer = consumer,
                 .consumers = {consumer},
                 .by = kernel::Synchronisation::commit_group},
                {.name = "out",
                 .tensor = sC,
                 .producer = consumer,
                 .consumers = {consumer},
                 .by = kernel::Synchronisation::bulk_group}};
  s.agents = {{.name = "producer",
               .warps = 4,
               .registers = 40,
               .steps = {loop(trip_count), acquire(ring), load("load A", {.tensor = sA}, ring),
                         load("load B", {.tensor = sB}, ring), end()}},
              {.name = "consumer",
               .warps = 8,
               .registers = 232,
               .steps = {acquire(ring), wgmma("first wgmma", {{.tensor = sA}, {.tensor = sB}}, sums), commit(sums),
                         loop(trip_count - 1), acquire(ring),
                         wgmma("wgmma", {{.tensor = sA, .lag = 1}, {.tensor = sB, .lag = 1}}, sums), commit(sums),
                         wait_group(1, sums), release(ring), end(), wait_group(0, sums), release(ring),
                         work("round", {}, {{.tensor = sC}}, sums), fence(), barrier(1),
                         store("store C", {.tensor = sC}, out), commit(out), wait_group(0, out)}}};
  return s;
}

kernel::Kernel cluster_matmul(std::int64_t trip_count, int blocks) {
  kernel::Kernel s = hopper_matmul(trip_count);
  s.cluster = blocks;
  for (kernel::Step& step : s.agents[0].steps)
    if (step.what == "load B") kernel::as<kernel::Copy>(step)->multicast = true;
  return s;
}

kernel::Kernel split_k_matmul(std::int64_t trip_count, int blocks) {
  kernel::Kernel s = hopper_matmul(trip_count);
  s.cluster = blocks;
  const int partial = static_cast<int>(s.tensors.size()), exchanging = static_cast<int>(s.channels.size());
  s.tensors.push_back(tensor("partial", 160 * 1024, (blocks - 1) * 16 * 1024));
  s.channels.push_back({.name = "exchange",
                        .tensor = partial,
                        .producer = 1,
                        .consumers = {1},
                        .by = kernel::Synchronisation::mbarrier_cluster});
  std::vector<kernel::Step>& steps = s.agents[1].steps;
  const auto round = std::ranges::find(steps, "round", &kernel::Step::what);
  kernel::Step send = work("send", {}, {{.tensor = partial}}, 1);
  kernel::as<kernel::Compute>(send)->to_cluster = true;
  const std::vector<kernel::Step> exchange{send, release(exchanging), acquire(exchanging),
                                           work("add", {{.tensor = partial}}, {})};
  steps.insert(round, exchange.begin(), exchange.end());
  return s;
}

kernel::Kernel ping_pong(std::int64_t trip_count) {
  constexpr int sA = 0, ring = 0, stages = 2;
  kernel::Kernel s{.threads = 384};
  s.tensors = {tensor("sA", 0, 65536, stages)};
  s.channels = {
      {.name = "ring",
       .tensor = sA,
       .stages = stages,
       .producer = 0,
       .consumers = {1, 2},
       .by = kernel::Synchronisation::mbarrier_bytes},
      {.name = "accumulators 1", .producer = 1, .consumers = {1}, .by = kernel::Synchronisation::commit_group},
      {.name = "accumulators 2", .producer = 2, .consumers = {2}, .by = kernel::Synchronisation::commit_group}};
  const auto consumer = [&](int agent) {
    const int mine = agent, others = 3 - agent;
    std::vector<kernel::Step> steps;
    if (agent == 2) steps.push_back(arrive(others));  // the other group goes first
    for (const kernel::Step& step :
         {loop(trip_count), barrier(mine), acquire(ring), wgmma("wgmma", {{.tensor = sA}}, agent), commit(agent),
          arrive(others), wait_group(0, agent), release(ring), work("softmax", {}, {}, agent), end()})
      steps.push_back(step);
    if (agent == 1) steps.push_back(barrier(mine));  // takes what the other gave last
    return kernel::Agent{.name = fmt::format("consumer {}", agent), .warps = 4, .registers = 232, .steps = steps};
  };
  s.agents = {{.name = "producer",
               .warps = 4,
               .registers = 40,
               .steps = {loop(trip_count), acquire(ring), load("load A", {.tensor = sA}, ring), end()}},
              consumer(1),
              consumer(2)};
  return s;
}

std::string text(const kernel::Kernel& s, const char* target) {
  Plan plan;
  plan.program.name = "schedule", plan.target = target;
  plan.kernels = {nested(s)};
  plan.kernels[0].program.block = {s.threads, 1, 1};
  return ir::print(plan);
}

/// True if the schedule has what set_up adds, or names agents that it lacks.
static bool is_set_up(const kernel::Kernel& s) {
  const auto lacks = [&](int agent) { return agent < 0 || agent >= std::ssize(s.agents); };
  for (const kernel::Channel& c : s.channels)
    if (lacks(c.producer) || std::ranges::any_of(c.consumers, lacks)) return true;
  for (const kernel::Agent& a : s.agents)
    if (std::ranges::any_of(a.steps, [](const kernel::Step& x) {
          const kernel::Barrier* barrier = kernel::as<kernel::Barrier>(x);
          return barrier && barrier->threads != 0;
        }))
      return true;
  return !s.setup.empty();
}

std::string verdict(const kernel::Kernel& given, const char* target) {
  kernel::Kernel s = nested(given);
  if (!is_set_up(s)) verify::set_up(s);
  try {
    verify::verify(s, target::find(target));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace zellige::plan
