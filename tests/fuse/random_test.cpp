// Random graphs of plain operators: what comes out is valid, computes the same, and plans.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fuse/fuse.hpp"
#include "graph/json.hpp"
#include "graph/validate.hpp"
#include "plan/plan.hpp"
#include "random/generate.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

/// More on demand: ZELLIGE_RANDOM_FUSIONS, and ZELLIGE_FIRST_SEED.
int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

TEST(RandomFusions, ComputeTheSame) {
  int fused = 0, fewer = 0, undecided = 0, refused = 0;
  const int first = number("ZELLIGE_FIRST_SEED", 1), count = number("ZELLIGE_RANDOM_FUSIONS", 12);
  for (int seed = first; seed < first + count; ++seed) {
    const graph::KernelGraph g = random_graphs::random_plain(static_cast<std::uint64_t>(seed));
    const target::Target& target = target::find(seed % 2 == 0 ? "sm_80" : "sm_90a");
    Optimized o;
    try {
      o = optimize(g, target);
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      EXPECT_THROW(plan::make_plan(g, target), Error) << g.name << ": " << e.what();
      ++refused;
      continue;
    }
    EXPECT_NO_THROW(graph::validate(o.graph)) << g.name;
    EXPECT_NO_THROW(plan::make_plan(o.graph, target)) << g.name;
    for (const FusedKernel& k : o.kernels) fused += k.operators.size() > 1;
    fewer += o.graph.ops.size() < g.ops.size();
    const search::Equality e = search::equal(g, o.graph);
    EXPECT_NE(search::name(e.answer), "different")
        << search::describe(e, g.name, g.name + " fused") << graph::to_json(g) << graph::to_json(o.graph);
    undecided += e.answer == search::Answer::undecided;
    if (e.answer == search::Answer::undecided) std::printf("%s: %s\n", g.name.c_str(), e.why.c_str());
  }
  EXPECT_GE(fused, count / 3);
  EXPECT_LE(undecided, count / 10);
  std::printf("%d graphs, %d with fewer operators, %d kernels of several, %d undecided, %d refused\n", count,
              fewer, fused, undecided, refused);
}

}  // namespace
}  // namespace zellige::fuse
