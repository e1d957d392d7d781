#include "run/tune.hpp"

#include <algorithm>
#include <tuple>

#include "graph/parallel.hpp"

namespace zellige::run {
namespace {

constexpr double tie = 1.02;

struct Candidate {
  emit::Program program;
  double expected;
  std::vector<double> rounds;  // medians
  double us() const { return median(rounds); }
  auto key() const {
    std::int64_t blocks = 0, threads = 0;
    for (const emit::KernelLaunch& k : program.manifest.kernels)
      blocks += k.grid.count(), threads += k.grid.count() * k.block.count();
    return std::tuple(blocks, threads, retile::to_json(program.manifest.tiling));
  }
};

}  // namespace

Tuned tune(const graph::KernelGraph& graph, const target::Target& target, const plan::Wishes& wishes,
           int candidates, const Measure& measure, const std::string& machine, const Cache& cache,
           const std::function<void(const std::string&)>& say, const Prepare& prepare) {
  std::vector<Candidate> all;
  Key key = Key{}.add("tuned").add(machine);
  for (const plan::Tiled& t :
       plan::ranked(graph, target, wishes, candidates, plan::Tilings::of_products_too)) {
    plan::Wishes stated = wishes;
    stated.tiles = plan::Tiles::stated;
    stated.tiling = plan::tiling_of(t);
    all.push_back({emit::transpile(graph, target, stated), t.price.us, {}});
    key.add(all.back().program.source);
  }
  if (const auto known = cache.read(key, "tiling"))
    return {retile::parse_tiling(*known, "a tuned tiling in the cache"), {}};
  if (prepare) {
    if (say) say(fmt::format("compiling {} tilings", all.size()));
    graph::parallel_for(static_cast<std::int64_t>(all.size()), graph::hardware_threads(),
                        [&](std::int64_t i, int) { prepare(all[static_cast<std::size_t>(i)].program); });
  }
  for (int round = 0; round < tuning_rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      Candidate& c = all[round % 2 == 0 ? i : all.size() - 1 - i];
      if (say)
        say(fmt::format("measuring tilings, {} of {}", round * all.size() + i + 1,
                        tuning_rounds * all.size()));
      c.rounds.push_back(median(measure(c.program)));
    }
  Tuned found;
  for (const Candidate& c : all)
    found.tried.push_back({retile::to_json(c.program.manifest.tiling), c.expected, c.us()});
  const double least = std::ranges::min_element(all, {}, &Candidate::us)->us();
  std::erase_if(all, [&](const Candidate& c) { return c.us() > tie * least; });
  const Candidate& best = *std::ranges::min_element(all, {}, &Candidate::key);
  cache.store(key, "tiling", retile::to_json(best.program.manifest.tiling));
  found.tiling = best.program.manifest.tiling;
  return found;
}

}  // namespace zellige::run
