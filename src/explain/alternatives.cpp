#include "explain/alternatives.hpp"

#include <algorithm>

#include "cost/better.hpp"
#include "explain/bound.hpp"
#include "retile/tiling.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige::explain {
namespace {

std::string extents(const graph::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

/// Returns the number of iterations of a program's longest loop.
double longest_loop(const predict::CostEstimate& cost) {
  double longest = 0;
  for (const cost::KernelCost& k : cost.kernels) longest = std::max(longest, k.trip_count);
  return longest;
}

}  // namespace

std::string difference(const retile::Tiling& own, const retile::Tiling& other) {
  std::string all;
  for (std::size_t i = 0; i < std::min(own.size(), other.size()); ++i) {
    const retile::OpTiling &a = own[i], &b = other[i];
    std::string of;
    const auto add = [&](const std::string& what) { of += (of.empty() ? "" : ", ") + what; };
    if (a.grid != b.grid) add(fmt::format("grid {} for {}", extents(b.grid), extents(a.grid)));
    if (a.loop != b.loop) add(fmt::format("loop {} for {}", b.loop, a.loop));
    if (a.block != b.block) add(fmt::format("{} threads for {}", b.block.count(), a.block.count()));
    if (!of.empty()) all += fmt::format("{}operator {}: {}", all.empty() ? "" : "; ", b.op, of);
  }
  return all.empty() ? retile::print(other) : all;
}

std::string why_not(double own, double other, bool longer_loops, const target::Costs::Search& search) {
  if (other >= own) return fmt::format("{:.2f} us more", other - own);
  const double gain = longer_loops ? search.clear_gain_of_longer_loops : search.clear_gain;
  const bool clear = cost::clearly_better({.us = other}, {.us = own}, longer_loops, search);
  return fmt::format(
      "{:.2f} us less, {:.1f}%: {}", own - other, 100 * (own - other) / own,
      clear ? std::string("it leaves more warps idle")
            : fmt::format("the tiling from the search for kernels is only replaced by one{} that saves more "
                          "than {:.0f}% and {:.0f} us, since estimates are not exact",
                          longer_loops ? " with longer loops" : "", 100 * gain, search.clear_us));
}

std::vector<Alternative> alternatives_of(const emit::EmittedProgram& own, const target::Target& target, int count) {
  std::vector<Alternative> all;
  const retile::Tiling taken = own.manifest.tiling;
  plan::PlanOptions options;
  options.registers_proved = false;
  for (const tiling::Tiled& t : tiling::ranked(own.graph, target, options, count).tiled) {
    const retile::Tiling tiling = retile::tiling_of(t.graph);
    if (tiling == taken) continue;
    all.push_back(
        {.tiling = retile::to_json(tiling),
         .lost_on = lost_on(own.cost, t.cost),
         .difference = difference(taken, tiling),
         .why = why_not(own.cost.us, t.cost.us, longest_loop(t.cost) > longest_loop(own.cost), target.costs.search),
         .us = t.cost.us});
  }
  return all;
}

}  // namespace zellige::explain
