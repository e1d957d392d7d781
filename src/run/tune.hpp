// Tuning: of the tilings that price least, the one that is fastest where it is measured.
//
//   const retile::Tiling t = tune(graph, target, {}, 8, measure, machine, cache).tiling;
//
// Measurements go round all candidates several times, back and forth, so that a clock that changes meets all of them; a candidate's
// time is the median of its rounds. Of several operators each one's best tiles, as tilings alike but for them tell, are then measured
// together with the fastest. What is within 1% of the fastest is a tie, which a fixed key decides: fewest blocks, then fewest
// threads, then the tiling's text. The outcome is remembered in the cache under the text of all candidates and the machine's name.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emit/emit.hpp"
#include "run/cache.hpp"
#include "run/result.hpp"

namespace zellige::run {

/// The microseconds that a program took, each time.
using Measure = std::function<std::vector<double>(const emit::Program&)>;

/// What of a measurement may be done beforehand, for several programs at a time in threads: compiling them.
using Prepare = std::function<void(const emit::Program&)>;

constexpr int tuning_rounds = 5;

struct Tuned {
  retile::Tiling tiling;
  std::vector<Tried>
      tried;  // in the order of what was expected of them, then their best together; none where the outcome was remembered
  plan::Rejections rejected;  // plans of other tilings
  std::string note = {};      // of an outcome in the cache that was not used, and why; "" else
};

/// Of at most `candidates` tilings, the graph's own among them. `say` hears how far it is.
Tuned tune(const graph::KernelGraph&, const target::Target&, const plan::Wishes&, int candidates,
           const Measure&, const std::string& machine, const Cache&,
           const std::function<void(const std::string&)>& say = {}, const Prepare& prepare = {});

}  // namespace zellige::run
