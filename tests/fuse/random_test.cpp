// Random graphs of unfused operators: the fused result is valid, computes the same, and
// can be planned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "candidate/steps.hpp"
#include "fuse/assemble.hpp"
#include "fuse/fuse.hpp"
#include "fuse/groups.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "plan/plan.hpp"
#include "random/generate.hpp"
#include "random/rng.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

/// More on demand: ZELLIGE_RANDOM_FUSIONS, and ZELLIGE_FIRST_SEED.
int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
int graphs() { return number("ZELLIGE_RANDOM_FUSIONS", test::all_cases() ? 12 : 6); }

/// A connected, convex group of up to `count` operators.
std::vector<int> random_group(const graph::KernelGraph& g, const Dependences& order, random_graphs::Rng& rng,
                              std::size_t max_size) {
  std::vector<int> starts;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (candidate::fusable(g, static_cast<int>(i))) starts.push_back(static_cast<int>(i));
  if (starts.empty()) return {};
  OperatorSet s(g.ops.size());
  s.add(rng.pick(starts));
  while (s.list().size() < max_size) {
    std::vector<OperatorSet> larger;
    for (int x : GroupNeighbours(g).of(s.list())) {
      larger.push_back(s);
      larger.back().add(x);
      if (!is_convex(larger.back(), order)) larger.pop_back();
    }
    if (larger.empty()) break;
    s = rng.pick(larger);
  }
  return s.list();
}

/// The kernel, and every other operator by itself.
graph::KernelGraph with(const graph::KernelGraph& g, const Dependences& order, const candidate::GroupKernel& k) {
  OperatorSet group(g.ops.size()), done(g.ops.size()), before(g.ops.size());
  for (int i : k.ops) group.add(i);
  for (int i : k.ops) before.add(order.direct[i]);
  std::vector<Group> groups;
  for (bool placed = false; done.list().size() < g.ops.size();) {
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      if (const int op = static_cast<int>(i); !group.has(op) && !done.has(op) && done.has(order.direct[i])) {
        groups.push_back({{op}, {}, 0});
        done.add(op);
      }
    OperatorSet with_group = done;
    with_group.add(group);
    if (!placed && with_group.has(before)) {
      groups.push_back({k.ops, {k}, 0});
      done = with_group, placed = true;
    }
  }
  return assemble(g, groups).graph;
}

// Any group with any of its tilings, loops and splits, not only those selected.
TEST(RandomFusions, EveryKernelComputesTheSame) {
  int groups = 0, kernels = 0, split = 0, undecided = 0;
  const int first = number("ZELLIGE_FIRST_SEED", 1), count = graphs();
  for (int seed = first; seed < first + count; ++seed) {
    const graph::KernelGraph g = random_graphs::random_unfused(static_cast<std::uint64_t>(seed));
    const Dependences order = order_of(g);
    random_graphs::Rng rng(static_cast<std::uint64_t>(seed) + 5000);
    const std::vector<int> ops = random_group(g, order, rng, static_cast<std::size_t>(rng.between(2, 5)));
    if (ops.size() < 2) continue;
    std::string why;
    std::vector<candidate::GroupKernel> found = candidate::kernels_of(g, ops, target::find("sm_90a"), why);
    groups += !found.empty();
    EXPECT_TRUE(!found.empty() || !why.empty()) << g.name;
    rng.shuffle(found);
    std::ranges::stable_sort(found, {}, [](const candidate::GroupKernel& k) { return k.parts.size() == 1; });
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 2); ++i) {
      const graph::KernelGraph h = with(g, order, found[i]);
      EXPECT_NO_THROW(graph::validate(h)) << g.name;
      ++kernels, split += found[i].parts.size() > 1;
      const search::Equality e = search::equal(g, h);
      EXPECT_NE(search::name(e.answer), "different")
          << search::describe(e, g.name, g.name + " fused") << json::to_json(g) << json::to_json(h);
      undecided += e.answer == search::Answer::undecided;
      if (e.answer == search::Answer::undecided) std::printf("%s: %s\n", g.name.c_str(), e.why.c_str());
    }
  }
  EXPECT_GE(kernels, count / 2);
  EXPECT_LE(undecided, kernels / 6);  // whose comparisons have more cases than fields can try
  std::printf("%d groups, %d kernels, %d of them split, %d undecided\n", groups, kernels, split, undecided);
}

TEST(RandomFusions, ComputeTheSame) {
  int fused = 0, fewer = 0, undecided = 0, refused = 0;
  const int first = number("ZELLIGE_FIRST_SEED", 1), count = graphs();
  for (int seed = first; seed < first + count; ++seed) {
    const graph::KernelGraph g = random_graphs::random_unfused(static_cast<std::uint64_t>(seed));
    const target::Target& target = target::find(seed % 2 == 0 ? "sm_80" : "sm_90a");
    Optimized o;
    try {
      o = optimize(g, target);
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      EXPECT_THROW(test::make_plan(g, target), Error) << g.name << ": " << e.what();
      ++refused;
      continue;
    }
    EXPECT_NO_THROW(graph::validate(o.graph)) << g.name;
    EXPECT_NO_THROW(test::make_plan(o.graph, target)) << g.name;
    for (const FusedKernel& k : o.kernels) fused += k.operators.size() > 1;
    fewer += o.graph.ops.size() < g.ops.size();
    const search::Equality e = search::equal(g, o.graph);
    EXPECT_NE(search::name(e.answer), "different")
        << search::describe(e, g.name, g.name + " fused") << json::to_json(g) << json::to_json(o.graph);
    undecided += e.answer == search::Answer::undecided;
    if (e.answer == search::Answer::undecided) std::printf("%s: %s\n", g.name.c_str(), e.why.c_str());
  }
  EXPECT_GE(fused, count / 3);
  EXPECT_LE(undecided, count / 6);
  EXPECT_LE(refused, count / 50);
  std::printf("%d graphs, %d with fewer operators, %d kernels of several, %d undecided, %d refused\n", count, fewer,
              fused, undecided, refused);
}

}  // namespace
}  // namespace zellige::fuse
