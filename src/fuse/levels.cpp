#include "fuse/levels.hpp"

#include "rewrite/measure.hpp"

namespace zellige::fuse {

bool apply(rules::Level level, graph::KernelGraph& g, const rewrite::Watch& watch, candidate::CostCache& known) {
  std::vector<std::string> faults;
  const bool changed = rewrite::rewrite(level, g, watch, faults);
  for (const std::string& why : faults) known.drop(Rejected(why));
  return changed;
}

}  // namespace zellige::fuse
