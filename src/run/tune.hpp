// Tuning: measures the tilings with the lowest estimated time and returns the fastest.
//
//   const retile::Tiling t = tune(graph, target, {}, 8, measure, machine, cache).tiling;
//
// Measures all candidates in several rounds, back and forth, so that clock changes affect all of them; a
// candidate's time is the median of its rounds. With several operators, the best tiles of each, found by
// comparing tilings that differ in one operator only, are then combined and measured against the fastest.
// Times within 1% of the fastest are ties, decided by a fixed key: fewest blocks, then fewest threads, then
// the tiling's JSON. The outcome is stored in the cache under the JSON of all candidates and the machine's
// name.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emit/emit.hpp"
#include "run/cache.hpp"
#include "run/result.hpp"

namespace zellige::run {

/// The microseconds of each evaluation of a program.
using Measure = std::function<std::vector<double>(const emit::Program&)>;

/// The part of a measurement that may be done in advance, for several programs in parallel: compiling them.
using Prepare = std::function<void(const emit::Program&)>;

constexpr int tuning_rounds = 5;

struct Tuned {
  retile::Tiling tiling;
  // in the order of their estimates, then their combination; empty if the outcome was cached
  std::vector<Tried> tried;
  plan::Rejections rejected;  // plans of other tilings
  std::string note = {};      // why a cached outcome was not used; else ""
};

/// Measures at most `candidates` tilings, including the graph's own. `say` receives progress reports.
Tuned tune(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions&, int candidates,
           const Measure&, const std::string& machine, const Cache&,
           const std::function<void(const std::string&)>& say = {}, const Prepare& prepare = {});

}  // namespace zellige::run
