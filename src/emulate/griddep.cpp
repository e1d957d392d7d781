// Checks programmatic dependent launch (PDL): finds accesses that a thread makes before griddep_wait, while
// the previous kernel may still run.
#include "emulate/cluster.hpp"

namespace zellige::emulate {

void Block::griddep_wait(Fiber& f) {
  cluster.waits_for_previous = true;
  ++cluster.counters[Counter::griddep_wait];
  hear(f, cluster.previous, 1);
}

void Block::early(const Fiber& f, const Region& r, std::ptrdiff_t from, std::ptrdiff_t to, bool writes, Site site) {
  if (!writes && (r.constant || !launch_->config->programmatic)) return;
  const void* key = reinterpret_cast<const unsigned char*>(&r) + (writes ? 1 : 0);
  if (!findings.fresh(Finding::Kind::dependency, key, 0)) return;
  RawFinding raw{Finding::Kind::dependency, r.name, "", {walk(f, site)}, linear};
  raw.text = fmt::format("for global tensor {}: {} {} bytes {}..{} at \1, and the kernel before may not {}", r.name,
                         who(f.index), writes ? "writes" : "reads", from, to,
                         writes ? "be done with them" : "have written them yet");
  cluster.early.push_back(std::move(raw));
}

}  // namespace zellige::emulate
