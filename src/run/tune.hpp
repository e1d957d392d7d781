// Tunes a program: measures the tilings with the lowest expected times, and returns the fastest.
//
//   const retile::Tiling t = tune(graph, target, {}, /*candidates*/ 8, measure, machine, cache).tiling;
//
// The candidates are measured in several rounds, alternately in forward and reverse order, so that changes of
// the clock rate affect all of them. A candidate's time is the median of its rounds.
//
// Then one more tiling is measured. It starts from the fastest candidate; the tiles of each operator are
// replaced by others if these were faster in a pair of candidates that differ in this operator only.
//
// Times within 1% of the fastest are ties. Of tied tilings, the one with the fewest blocks is returned, then
// the one with the fewest threads, then the one with the smallest JSON. The outcome is cached, with the
// candidates' source code and the machine's name as the key.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emit/emit.hpp"
#include "run/result.hpp"
#include "toolchain/cache.hpp"

namespace zellige::run {

/// A function that measures a program and returns the microseconds of each evaluation.
using MeasureProgram = std::function<std::vector<double>(const emit::EmittedProgram&)>;

/// A function that compiles a program before it is measured; called for several programs in parallel.
using Prepare = std::function<void(const emit::EmittedProgram&)>;

constexpr int tuning_rounds = 5;

/// The result of tuning: the fastest tiling, and what was measured.
struct Tuned {
  retile::Tiling tiling;
  // candidates in the order of their expected times, then the combination; empty if the outcome was cached
  std::vector<Tried> tried;
  kernel::Rejections rejected;  // rejected plans
  std::string note = {};        // what is wrong with an invalid cache entry; else ""
};

/// Returns the fastest tiling of a graph: measures at most `candidates` tilings, including the graph's own,
/// and a combination of them. Measure: returns the microseconds of a program's evaluations. `machine`: name
/// of the machine, part of the cache's key. `say` receives the progress in words; `prepare` compiles a
/// program before it is measured. Throws Error if the graph cannot be planned.
Tuned tune(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions&, int candidates,
           const MeasureProgram&, const std::string& machine, const toolchain::Cache&,
           const std::function<void(const std::string&)>& say = {}, const Prepare& prepare = {});

}  // namespace zellige::run
