#include "candidate/cost_cache.hpp"

#include <utility>

namespace zellige::candidate {

void raise(const NoPlan& refusal) {
  if (refusal.rejected) throw Rejected(refusal.why);
  if (refusal.exceeds) throw DoesNotFit(refusal.why);
  throw Error(refusal.why);
}

std::optional<double> CostCache::find(const std::string& structure) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = added_.find(structure); at != added_.end()) return at->second;
  }
  return before_ ? before_(structure) : std::nullopt;
}

void CostCache::add(const std::string& structure, double us) {
  const std::lock_guard lock(mutex_);
  added_.insert_or_assign(structure, us);
}

void CostCache::drop(const Rejected& plan) {
  const std::lock_guard lock(mutex_);
  kernel::drop(plan, rejected_);
}

kernel::Rejections CostCache::take_rejected() {
  const std::lock_guard lock(mutex_);
  return std::exchange(rejected_, {});
}

}  // namespace zellige::candidate
