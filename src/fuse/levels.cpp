#include "fuse/levels.hpp"

#include "rewrite/measure.hpp"

namespace zellige::fuse {

bool apply(Level level, KernelGraph& g, const Watch& watch, CostCache& known) {
  std::vector<std::string> faults;
  const bool changed = rewrite(level, g, watch, faults);
  for (const std::string& why : faults) known.drop(Rejected(why));
  return changed;
}

}  // namespace zellige::fuse
