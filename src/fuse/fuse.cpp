#include "fuse/fuse.hpp"

#include <algorithm>

#include "cost/better.hpp"
#include "fuse/assemble.hpp"
#include "fuse/declared.hpp"
#include "fuse/separate.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/view.hpp"
#include "plan/plan.hpp"
#include "retile/retile.hpp"
#include "rewrite/measure.hpp"
#include "rewrite/rewrite.hpp"
#include "target/instructions.hpp"

namespace zellige::fuse {
namespace {

/// Returns an operator as it is shown in notes: "t2 = mul".
std::string called(const graph::KernelGraph& g, int op) {
  const graph::KernelOp& o = g.ops[op];
  return fmt::format("{} = {}", g.tensors[o.outputs[0]].name, graph::name(o.kind));
}

/// Returns a kernel's name, made from the kinds of its operators: those that are not elementwise, or else all.
std::string name_of(const graph::KernelGraph& g, const std::vector<int>& ops) {
  constexpr std::size_t max_words = 4;
  for (const bool elementwise : {false, true}) {
    std::vector<std::string> words;
    for (int i : ops) {
      const std::string word(graph::name(g.ops[i].kind));
      if (graph::is_elementwise(g.ops[i].kind) == elementwise && (words.empty() || words.back() != word))
        words.push_back(word);
    }
    if (words.empty()) continue;
    std::string name = words[0];
    for (std::size_t i = 1; i < std::min(words.size(), max_words); ++i) name += "_" + words[i];
    return name;
  }
  return "kernel";
}

int launches(const Group& group) { return group.kernels.empty() ? 1 : static_cast<int>(group.kernels[0].parts.size()); }

/// Returns the graph in which the chosen groups are fused, with names and costs of its kernels.
Optimized optimized(const graph::KernelGraph& g, const Choice& choice, const target::Target& target) {
  Optimized o;
  o.work = choice.work;
  const Assembled whole = assemble(g, choice.groups);
  o.graph = whole.graph;
  for (std::size_t i = 0; i < choice.groups.size(); ++i) {
    const Group& group = choice.groups[i];
    if (group.kernels.empty() && graph::is_view(g.ops[group.ops[0]].kind)) continue;
    FusedKernel& k = o.kernels.emplace_back();
    k.name = name_of(g, group.ops);
    for (int op : group.ops) k.operators.push_back(called(g, op));
    k.op = whole.first[i];
    k.parts = launches(group);
    k.estimated_us = group.us;
    k.floor_us = candidate::floor_us(g, group.ops, target);
  }
  return o;
}

/// Replaces group number `at` by a group for each of its operators.
void split(const graph::KernelGraph& g, std::vector<Group>& groups, std::size_t at, const target::Target& target,
           candidate::CostCache& known) {
  std::vector<Group> parts;
  for (int op : groups[at].ops) parts.push_back(separated(g, op, target, known));
  groups.insert(groups.erase(groups.begin() + at), parts.begin(), parts.end());
}

/// Returns what the kernels of a choice cost together.
cost::WayCost cost(const Choice& c) {
  cost::WayCost sum{.launches = 0};
  for (const Group& group : c.groups) {
    sum.us += group.us;
    if (group.us > 0) sum.launches += static_cast<std::size_t>(launches(group));
  }
  return sum;
}

/// Rewrites the graph by the levels before those compared by cost, by the level `warpgroups` if its kernels cost less, and chooses. That
/// level comes first: the level `given` takes products of small M. `rules` receives the names of those that were applied.
Choice choose_of_levels(graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known,
                        const rewrite::Watch& watch, Reasons reasons, std::vector<std::string>& rules) {
  const auto rewritten = [&](graph::KernelGraph& of, std::vector<std::string>& applied) {
    for (const rules::Level level : {rules::Level::normal, rules::Level::copied, rules::Level::heads})
      apply(level, of, watch, known, &applied);
    return choose(of, target, known, watch, reasons);
  };
  graph::KernelGraph on_warpgroups = g;
  std::vector<std::string> other_rules = rules;
  const bool has_other = target::find_warpgroup_mma(target, "f16", "f16", "f32", 64, true) &&
                         apply(rules::Level::warpgroups, on_warpgroups, watch, known, &other_rules);
  apply(rules::Level::given, g, watch, known, &rules);
  Choice choice = rewritten(g, rules);
  if (!has_other || choice.ended) return choice;
  apply(rules::Level::given, on_warpgroups, watch, known, &other_rules);
  Choice other = rewritten(on_warpgroups, other_rules);
  const target::Costs::Search& search = target.costs.search;
  cost::WayCost measured = cost(other);
  measured.us += search.longer_widened * std::max(0.0, measured.us - search.widened_us);
  if (!cost::better(measured, cost(choice), search)) return choice;
  g = std::move(on_warpgroups), rules = std::move(other_rules);
  return other;
}

}  // namespace

bool apply(rules::Level level, graph::KernelGraph& g, const rewrite::Watch& watch, candidate::CostCache& known,
           std::vector<std::string>* applied) {
  std::vector<std::string> faults;
  const bool changed = rewrite::rewrite(level, g, watch, faults, applied);
  for (const std::string& why : faults) known.drop(Rejected(why));
  return changed;
}

Optimized optimize(const graph::KernelGraph& g, const target::Target& target) {
  candidate::CostCache known;
  return optimize(g, target, known);
}

Optimized optimize(const graph::KernelGraph& given, const target::Target& target, candidate::CostCache& known,
                   const rewrite::Watch& asked, Reasons reasons, const std::optional<retile::Tiling>& declared) {
  graph::KernelGraph g = rewrite::live(given);
  const rewrite::Watch watch = rewrite::until_ended(asked);
  std::vector<std::string> applied;
  Choice choice = choose_of_levels(g, target, known, watch, reasons, applied);
  std::vector<std::string> priced = applied;
  if (graph::KernelGraph separate = g; !choice.ended && apply(rules::Level::priced, separate, watch, known, &priced)) {
    // The rewritten graph has batched matmuls, which some instructions do not support.
    try {
      Choice other = choose(separate, target, known, watch, reasons);
      if (cost::better(cost(other), cost(choice), target.costs.search))
        g = std::move(separate), choice = std::move(other), applied = std::move(priced);
    } catch (const Rejected& e) {
      known.drop(e);
    }
  }
  Optimized o = optimized(g, choice, target);
  std::vector<std::string> notes;
  const auto plan_whole = [&] { graph::validate(o.graph), plan::make_plan(o.graph, target); };
  for (candidate::NoPlan refusal; !candidate::tried(known, refusal, plan_whole);) {
    // Layouts are resolved over all kernels, so kernels that can be planned separately may conflict. In that
    // case the last fused group is unfused, and the graph is planned again.
    std::size_t last = choice.groups.size();
    for (std::size_t i = 0; i < choice.groups.size(); ++i)
      if (choice.groups[i].ops.size() > 1) last = i;
    if (last == choice.groups.size()) candidate::raise(refusal);
    notes.push_back(fmt::format("{} is split again: {}", name_of(g, choice.groups[last].ops), refusal.why));
    split(g, choice.groups, last, target, known);
    o = optimized(g, choice, target);
  }
  if (declared) {
    std::vector<bool> matmuls;  // a file may number matmuls that are groups of their own as operators of the graph
    for (const Group& group : choice.groups)
      matmuls.push_back(group.ops.size() == 1 && g.ops[group.ops[0]].kind == graph::OpKind::matmul);
    Declared d = declare(g, choice.groups, matmuls, *declared, target, known);
    choice.groups = std::move(d.groups);
    o = optimized(g, choice, target);
    o.graph = retile::retile(o.graph, d.tiling);
  }
  for (const FusedKernel& k : o.kernels) {
    std::string text = fmt::format("{}: {:.1f} us{}, at least {:.1f}:", k.name, k.estimated_us,
                                   k.parts > 2   ? " in three kernels"
                                   : k.parts > 1 ? " in two kernels"
                                                 : "",
                                   k.floor_us);
    for (const std::string& op : k.operators) text += fmt::format("{} {}", &op == k.operators.data() ? "" : ",", op);
    o.notes.push_back(std::move(text));
  }
  o.limits = choice.limits, o.rules = std::move(applied);
  for (const std::vector<std::string>& list : {choice.notes, choice.limits, notes})
    o.notes.insert(o.notes.end(), list.begin(), list.end());
  o.rejected = known.take_rejected();
  return o;
}

}  // namespace zellige::fuse
