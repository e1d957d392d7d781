#include "fuse/separate.hpp"

#include <set>

#include "candidate/steps.hpp"
#include "fuse/assemble.hpp"
#include "fuse/declared.hpp"
#include "fuse/kinds.hpp"
#include "reference/parallel.hpp"
#include "retile/retile.hpp"

namespace zellige::fuse {

namespace {

/// Returns the group of an operator of a kind that is planned. Throws if it has no kernel.
Group of_kind(const graph::KernelGraph& g, int op, const Kinds& kinds, const GroupKind& kind) {
  if (kind.us == never)
    candidate::raise({fmt::format("{}: {} has no kernel: {}", g.name, graph::name(g.ops[op].kind), kind.refusal.why),
                      kind.refusal.rejected});
  return {{op}, {kinds.kernel(kind, {op})}, kind.us};
}

}  // namespace

Group separated(const graph::KernelGraph& g, int op, const target::Target& target, candidate::CostCache& known) {
  if (!candidate::computes(g, op)) return {{op}, {}, 0};
  Kinds kinds(g, target, known);
  const std::shared_ptr<GroupKind> kind = kinds.of({{op}})[0];
  kinds.plan(*kind, PlansOfKind::up_to_first);
  return of_kind(g, op, kinds, *kind);
}

graph::KernelGraph separate(const graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known,
                            const std::optional<retile::Tiling>& declared) {
  Kinds kinds(g, target, known);
  std::vector<std::vector<int>> computed;
  std::vector<bool> computing;
  std::set<int> tiled;  // operators whose tiles are declared; they need no others
  for (const retile::OpTiling& t : declared.value_or(retile::Tiling{}))
    if (t.product) tiled.insert(t.op);
  for (int op = 0; op < std::ssize(g.ops); ++op) {
    computing.push_back(candidate::computes(g, op));
    if (computing.back() && !tiled.contains(op)) computed.push_back({op});
  }
  const std::vector<std::shared_ptr<GroupKind>> of = kinds.of(computed);
  std::set<GroupKind*> distinct;
  for (const auto& kind : of) distinct.insert(kind.get());
  const std::vector<GroupKind*> open(distinct.begin(), distinct.end());
  reference::on_all_cores(open.size(), [&](std::size_t i) { kinds.plan(*open[i], PlansOfKind::up_to_first); });
  std::vector<Group> groups;
  for (int op = 0; op < std::ssize(g.ops); ++op) groups.push_back({{op}, {}, 0});
  for (std::size_t i = 0; i < computed.size(); ++i) groups[computed[i][0]] = of_kind(g, computed[i][0], kinds, *of[i]);
  if (!declared) return assemble(g, groups).graph;
  const Declared d = declare(g, std::move(groups), computing, *declared, target, known);
  return retile::retile(assemble(g, d.groups).graph, d.tiling);
}

graph::KernelGraph separate(const graph::KernelGraph& g, const target::Target& target,
                            const std::optional<retile::Tiling>& declared) {
  candidate::CostCache known;
  return separate(g, target, known, declared);
}

}  // namespace zellige::fuse
