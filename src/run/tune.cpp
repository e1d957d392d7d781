#include "run/tune.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "cost/pays.hpp"
#include "reference/parallel.hpp"
#include "run/compile.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige::run {
namespace {

// A tiling whose program is measured.
struct MeasuredTiling {
  emit::EmittedProgram program;
  double expected;             // microseconds
  std::vector<double> rounds;  // microseconds, the median of each round
  double us() const { return median(rounds); }
  // Returns the sort key that decides between candidates of equal time: the one with the smallest key is preferred.
  auto key() const {
    std::int64_t blocks = 0, threads = 0;
    for (const manifest::KernelLaunch& k : program.manifest.kernels)
      blocks += k.grid.count(), threads += k.grid.count() * k.block.count();
    return std::tuple(blocks, threads, retile::to_json(program.manifest.tiling));
  }
  const retile::Tiling& tiling() const { return program.manifest.tiling; }
};

/// Returns the index of the operator in whose tiles two tilings differ; -1 if they differ in none or several.
int differ_in(const retile::Tiling& a, const retile::Tiling& b) {
  int found = -1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

/// Returns a tiling that combines the measured candidates `all`: the fastest one, with the tiles of some
/// operators replaced. An operator gets other tiles if, of two candidates that differ in this operator only,
/// the one with the other tiles is faster than the one with the fastest candidate's tiles.
retile::Tiling together(const std::vector<MeasuredTiling>& all) {
  retile::Tiling best = std::ranges::min_element(all, {}, &MeasuredTiling::us)->tiling();
  for (std::size_t op = 0; op < best.size(); ++op) {
    const retile::OpTiling own = best[op];
    double minimum = 1;
    for (const MeasuredTiling& with : all)
      for (const MeasuredTiling& instead : all)
        if (with.tiling().size() == best.size() && instead.tiling().size() == best.size() && with.tiling()[op] == own &&
            differ_in(with.tiling(), instead.tiling()) == static_cast<int>(op) && instead.us() < minimum * with.us())
          minimum = instead.us() / with.us(), best[op] = instead.tiling()[op];
  }
  return best;
}

/// Returns the expected time, in microseconds, of the graph with the options' tiling; nullopt if it has no plan. Adds a
/// plan that the verifier rejects to `rejected`.
std::optional<double> expected_us(const graph::KernelGraph& graph, const target::Target& target,
                                  const plan::PlanOptions& options, kernel::Rejections& rejected) {
  try {
    return tiling::choose_tilings(graph, target, options).cost.us;
  } catch (const Rejected& plan) {
    kernel::drop(plan, rejected);
  } catch (const Fault&) {
    throw;
  } catch (const Error&) {  // the tiles of different operators are incompatible
  }
  return std::nullopt;
}

}  // namespace

Tuned tune(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& plan_options,
           int candidates, const MeasureProgram& measure, const std::string& machine, const toolchain::Cache& cache,
           const std::function<void(const std::string&)>& say, const Prepare& prepare) {
  std::vector<MeasuredTiling> all;
  const auto declared = [&](const retile::Tiling& tiling) {
    plan::PlanOptions with = plan_options;
    with.tiles = plan::TilingPolicy::fixed, with.tiling = tiling;
    return with;
  };
  const auto add = [&](const retile::Tiling& tiling, double expected) {
    all.push_back({transpile(graph, target, declared(tiling)), expected, {}});
  };
  toolchain::Key key = toolchain::Key{}.add("tuned").add(machine);
  Tuned found;
  const tiling::RankedTilings ranked = tiling::ranked(graph, target, plan_options, candidates);
  found.rejected = ranked.rejected;
  for (const tiling::Tiled& t : ranked.tiled) {
    add(retile::tiling_of(t.graph), t.cost.us);
    key.add(all.back().program.source);
  }
  if (const auto known = cache.read(key, "tiling", &found.note)) {
    found.tiling = retile::parse_tiling(*known, "a tuned tiling in the cache");
    return found;
  }
  if (prepare) {
    if (say) say(fmt::format("compiling {} tilings", all.size()));
    reference::parallel_for(static_cast<std::int64_t>(all.size()), reference::hardware_threads(),
                            [&](std::int64_t i, int) { prepare(all[i].program); });
  }
  const auto measured = [&](const std::vector<std::size_t>& which) {
    for (int round = 0; round < tuning_rounds; ++round)
      for (std::size_t i = 0; i < which.size(); ++i) {
        MeasuredTiling& c = all[which[round % 2 == 0 ? i : which.size() - 1 - i]];
        if (say)
          say(fmt::format("measuring tilings, {} of {}", round * which.size() + i + 1, tuning_rounds * which.size()));
        c.rounds.push_back(median(measure(c.program)));
      }
  };
  std::vector<std::size_t> which(all.size());
  std::iota(which.begin(), which.end(), 0);
  measured(which);
  // Each candidate was measured with expected, not measured, best tiles of its other operators.
  if (const retile::Tiling best = together(all);
      std::ranges::none_of(all, [&](const MeasuredTiling& c) { return c.tiling() == best; })) {
    const auto fastest = std::ranges::min_element(all, {}, &MeasuredTiling::us) - all.begin();
    if (const auto expected = expected_us(graph, target, declared(best), found.rejected)) {
      add(best, *expected);
      measured({static_cast<std::size_t>(fastest), all.size() - 1});
    }
  }
  for (const MeasuredTiling& c : all)
    found.tried.push_back({retile::to_json(c.program.manifest.tiling), c.expected, c.us()});
  const cost::WayCost fastest{.us = std::ranges::min_element(all, {}, &MeasuredTiling::us)->us()};
  std::erase_if(all, [&](const MeasuredTiling& c) { return !cost::as_fast({.us = c.us()}, fastest); });
  const MeasuredTiling& best = *std::ranges::min_element(all, {}, &MeasuredTiling::key);
  cache.store(key, "tiling", retile::to_json(best.program.manifest.tiling));
  found.tiling = best.program.manifest.tiling;
  return found;
}

}  // namespace zellige::run
