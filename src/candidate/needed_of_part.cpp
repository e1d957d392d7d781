#include "candidate/needed_of_part.hpp"

namespace zellige::candidate {

NeededOfPart needed_of_part(const GroupSteps& steps, const std::vector<Deferred>& deferred,
                            const std::map<int, std::vector<DeferredFactor>>& sums) {
  const auto is_maximum = [&](int v) { return deferred[v].kind == Deferred::Kind::maximum; };
  NeededOfPart result;
  std::vector<int> wanted(steps.outputs), needed;
  for (std::set<int> seen; !wanted.empty();) {  // by the combining kernel
    const int v = wanted.back();
    wanted.pop_back();
    if (steps.values[v].loaded || !seen.insert(v).second) continue;
    if (const auto sum = sums.find(v); sum != sums.end()) {
      needed.push_back(v);
      for (const DeferredFactor& f : sum->second) wanted.push_back(f.value);
    } else if (is_maximum(v) && deferred[v].waits()) {
      needed.push_back(v), result.maxima.insert(v);
    } else {
      const GroupStep& s = step_of(steps, v);
      wanted.insert(wanted.end(), s.inputs.begin(), s.inputs.end());
    }
  }
  while (!needed.empty()) {
    const int v = needed.back();
    needed.pop_back();
    if (steps.values[v].loaded || !result.inside.insert(v).second) continue;
    for (int x : step_of(steps, v).inputs)
      if (!deferred[x].waits() || is_maximum(x)) needed.push_back(x);
  }
  return result;
}

}  // namespace zellige::candidate
