#include "fuse/declared.hpp"

#include <algorithm>
#include <map>

#include "fuse/assemble.hpp"
#include "retile/retile.hpp"

namespace zellige::fuse {
namespace {

using retile::OpTiling;
using retile::Tiling;

/// Returns the group with the kernel whose matmul has the tile that operator number `t.op` of the file has.
Group with_tile(const graph::KernelGraph& g, Group group, const OpTiling& t, const target::Target& target,
                candidate::CostCache& known) {
  candidate::NoPlan refusal;
  for (const candidate::GroupKernel& k : candidate::kernels_of(g, group.ops, target, refusal.why, {*t.product}))
    if (const auto us = candidate::planned_us(g, k, target, known, refusal)) return {std::move(group.ops), {k}, *us};
  candidate::raise({fmt::format("graph {}: operator {} has no kernel with this tile: {}: {}", g.name, t.op,
                                retile::print({t}), refusal.why),
                    refusal.rejected});
}

}  // namespace

Declared declare(const graph::KernelGraph& g, std::vector<Group> groups, const std::vector<bool>& left,
                 const Tiling& tiling, const target::Target& target, candidate::CostCache& known) {
  Declared d{std::move(groups), tiling};
  const bool products = std::ranges::any_of(tiling, [](const OpTiling& t) { return t.product.has_value(); });
  if (!products && numbers(retile::tiling_of(assemble(g, d.groups).graph)) == numbers(tiling)) return d;

  std::vector<Group> as_numbered = d.groups;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i]) as_numbered[i].kernels.clear();
  const Assembled numbered = assemble(g, as_numbered);
  Tiling customs;
  for (const OpTiling& t : tiling) {
    if (!t.product) {
      customs.push_back(t);
      continue;
    }
    const auto at = std::ranges::find(numbered.first, t.op);
    const auto i = static_cast<std::size_t>(at - numbered.first.begin());
    if (at == numbered.first.end() || !left[i] || g.ops[d.groups[i].ops[0]].kind != graph::OpKind::matmul)
      fail("graph {}: expected the tile of operator {} to be a matmul's, found {}", g.name, t.op,
           t.op < 0 || t.op >= std::ssize(numbered.graph.ops) ? "no such operator"
                                                              : graph::name(numbered.graph.ops[t.op].kind));
    d.groups[i] = with_tile(g, d.groups[i], t, target, known);
  }
  const Tiling before = retile::tiling_of(numbered.graph);
  if (numbers(before) != numbers(customs))
    fail("graph {}: expected a tiling of its custom operators ({}), found one of {}", g.name, numbers(before),
         numbers(customs));
  // The custom operators of both graphs are in the same order; the second one has those of `left`, too.
  const Assembled whole = assemble(g, d.groups);
  d.tiling = retile::tiling_of(whole.graph);
  std::map<int, bool> is_left;  // by the number of a group's first operator
  for (std::size_t i = 0; i < left.size(); ++i) is_left[whole.first[i]] = left[i];
  auto next = customs.begin();
  for (OpTiling& t : d.tiling) {
    if (std::prev(is_left.upper_bound(t.op))->second) continue;
    const int op = t.op;
    t = *next++, t.op = op;
  }
  return d;
}

}  // namespace zellige::fuse
