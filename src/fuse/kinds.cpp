#include "fuse/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cost/better.hpp"
#include "reference/parallel.hpp"

namespace zellige::fuse {

constexpr std::size_t max_tilings = 32;  // per kind, that are planned, in order of estimated time

Kinds::Kinds(const graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known)
    : g_(g), target_(target), costs_(known), excerpts_(g) {}

std::vector<std::shared_ptr<GroupKind>> Kinds::of(const std::vector<std::vector<int>>& groups) {
  std::vector<std::optional<candidate::Excerpt>> excerpts(groups.size());
  std::vector<std::string> keys(groups.size());
  reference::on_all_cores(groups.size(), [&](std::size_t i) {
    excerpts[i] = excerpts_.of(groups[i]);
    keys[i] = candidate::key(*excerpts[i]);
  });
  std::vector<std::shared_ptr<GroupKind>> result;
  std::vector<GroupKind*> open;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::shared_ptr<GroupKind>& kind = kinds_[std::move(keys[i])];
    if (!kind) open.push_back((kind = std::make_shared<GroupKind>(GroupKind{*std::move(excerpts[i]), {}})).get());
    result.push_back(kind);
  }
  reference::on_all_cores(open.size(), [&](std::size_t i) { find_kernels(*open[i]); });
  return result;
}

void Kinds::find_kernels(GroupKind& kind) const {
  kind.kernels = candidate::kernels_of(kind.first.graph, kind.first.ops, target_, kind.refusal.why);
  if (!kind.kernels.empty()) kind.us = kind.kernels[0].us * target_.costs.search.hopeful;
  kind.kernels.resize(std::min(kind.kernels.size(), max_tilings));
  kind.kernels.shrink_to_fit();
}

void Kinds::plan(GroupKind& kind, PlansOfKind plans) const {
  kind.planned = true, kind.us = never;
  double smallest = never;
  const target::Costs::Search& search = target_.costs.search;
  const auto counts_as = [&](double us, std::size_t launches) {
    return cost::counts_as({.us = us, .launches = launches}, search);
  };
  for (std::size_t k = 0; k < kind.kernels.size() && (plans == PlansOfKind::all || kind.us == never); ++k) {
    const candidate::GroupKernel& kernel = kind.kernels[k];
    const std::size_t launches = kernel.parts.size();
    if (counts_as(kernel.us * search.hopeful, launches) > smallest) continue;
    const auto us = candidate::planned_us(kind.first.graph, kernel, target_, costs_, kind.refusal);
    if (const double all = us ? counts_as(*us, launches) : never; all < smallest)
      smallest = all, kind.us = *us, kind.best = k;
  }
}

candidate::GroupKernel Kinds::kernel(const GroupKind& kind, const std::vector<int>& ops) const {
  return candidate::whole(kind.kernels[kind.best], kind.first, excerpts_.of(ops), ops, g_);
}

std::string Kinds::reason(const std::vector<int>& ops, bool plan_it) const {
  GroupKind kind{excerpts_.of(ops), {}};
  find_kernels(kind);
  if (kind.kernels.empty()) return kind.refusal.why;
  const double estimated = kind.kernels[0].us;
  if (plan_it) plan(kind);
  return kind.planned && kind.us == never ? kind.refusal.why
                                          : fmt::format("{:.1f} us together, by estimate", estimated);
}

}  // namespace zellige::fuse
