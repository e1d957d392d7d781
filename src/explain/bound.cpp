#include "explain/bound.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "explain/text.hpp"

namespace zellige::explain {
namespace {

/// A resource of the cost model: its name, its time, and the numbers that the time is of.
struct Resource {
  const char* name;
  double cost::KernelCost::*us;
  std::string (*numbers)(const cost::KernelCost&, const target::Target&);
};

const std::array<Resource, 6> resources{{
    {"DRAM", &cost::KernelCost::dram,
     [](const cost::KernelCost& k, const target::Target& t) {
       return fmt::format("{} at {:.0f} GB/s", bytes_text(k.dram_bytes), t.costs.dram);
     }},
    {"L2", &cost::KernelCost::l2,
     [](const cost::KernelCost& k, const target::Target&) {
       return fmt::format("{} leave it", bytes_text(k.served_bytes));
     }},
    {"shared memory", &cost::KernelCost::shared,
     [](const cost::KernelCost& k, const target::Target&) {
       return fmt::format("{:.0f} wavefronts a block", k.wavefronts);
     }},
    {"tensor cores", &cost::KernelCost::tensor,
     [](const cost::KernelCost& k, const target::Target&) {
       return fmt::format("{:.0f} cycles a block", k.tensor_cycles);
     }},
    {"issue slots", &cost::KernelCost::issue,
     [](const cost::KernelCost& k, const target::Target&) {
       return fmt::format("{:.0f} warp instructions a block", k.slots);
     }},
    {"latencies", &cost::KernelCost::latency,
     [](const cost::KernelCost& k, const target::Target&) {
       return fmt::format(
           "{:.0f} iterations with the loads of {:.0f} in flight, {:.0f} barriers, {:.0f} dependent instructions",
           k.trip_count, k.in_flight, k.barriers, k.chain);
     }},
}};

}  // namespace

LaunchAccount of_launch(const cost::KernelCost& k, const target::Target& target) {
  LaunchAccount a{.name = k.name,
                  .resident = static_cast<int>(std::min<std::int64_t>(k.blocks_of_busiest, k.blocks_each)),
                  .max_warps = target.threads_per_multiprocessor / target::warp_threads,
                  .waves = k.waves,
                  .us = k.us,
                  .dram_bytes = k.dram_bytes};
  a.warps = static_cast<int>(std::lround(k.warps)) * a.resident;
  a.resources = {{"launch", k.launch}, {"first load", k.first}};
  const Resource* slowest = resources.data();
  for (const Resource& r : resources) {
    a.resources.push_back({r.name, k.*r.us});
    if (k.*r.us > k.*slowest->us) slowest = &r;
  }
  const double begins = k.launch + k.first;
  const std::string_view verb = std::string_view(slowest->name).ends_with('s') ? "take" : "takes";
  a.bound =
      begins > k.*slowest->us
          ? fmt::format("The launch and the first load take {:.1f} us of {:.1f}; of the rest {} {} most, {:.1f} us: {}",
                        begins, k.us, slowest->name, verb, k.*slowest->us, slowest->numbers(k, target))
          : fmt::format("{} {} {:.1f} us of {:.1f}: {}", slowest->name, verb, k.*slowest->us, k.us,
                        slowest->numbers(k, target));
  a.bound[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(a.bound[0])));
  a.exposed_us = k.us - begins - k.*slowest->us;
  a.time = fmt::format(
      "Of {:.1f} us the launch takes {:.1f}, the first load {:.1f} and {} {:.1f}; {:.1f} is what the other resources "
      "add that does "
      "not overlap with {}",
      k.us, k.launch, k.first, slowest->name, k.*slowest->us, a.exposed_us,
      std::string_view(slowest->name).ends_with('s') ? "them" : "it");
  return a;
}

std::string lost_on(const predict::CostEstimate& own, const predict::CostEstimate& other) {
  if (own.kernels.size() != other.kernels.size())
    return fmt::format("{} launches for {}", other.kernels.size(), own.kernels.size());
  std::size_t launch = 0;
  const auto more = [&](std::size_t i) { return other.kernels[i].us - own.kernels[i].us; };
  for (std::size_t i = 0; i < own.kernels.size(); ++i)
    if (std::abs(more(i)) > std::abs(more(launch))) launch = i;
  const cost::KernelCost &a = own.kernels[launch], &b = other.kernels[launch];
  const Resource* worst = resources.data();
  for (const Resource& r : resources)
    if (b.*r.us - a.*r.us > b.*worst->us - a.*worst->us) worst = &r;
  return fmt::format("{}: {} {:.1f} us for {:.1f}, {:.0f} blocks for {:.0f}", b.name, worst->name, b.*worst->us,
                     a.*worst->us, b.launched, a.launched);
}

}  // namespace zellige::explain
