// What a program with sizes is at values of them, interpreted, is what the graph of these values says. Cases of every kind of
// dimension, fused and with a kernel for each operator.
#include <gtest/gtest.h>

#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"
#include "interpret/difference.hpp"
#include "plan/plan.hpp"
#include "reference/inputs.hpp"
#include "tile/at_sizes.hpp"

namespace zellige::tile {
namespace {

using test::SizedCase;

TilePrograms sized(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(test::largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  plan::Selected s = plan::selected(plan::lowered(g, target, test::of_graph(c, g)), target);
  TilePrograms p = s.plan.program;
  p.kernels.clear();
  for (selection::Selection& kernel : s.kernels) p.kernels.push_back(std::move(kernel.program));
  return p;
}

TEST(Sizes, ProgramsAtValuesComputeTheGraphsOfTheseValues) {
  std::string refused;
  for (const SizedCase& c : test::sized_cases())
    for (const bool fused : {true, false}) {
      TilePrograms p;
      try {
        p = sized(c, "sm_80", fused);
      } catch (const Fault&) {
        throw;
      } catch (const Error& e) {
        refused += fmt::format("{}{}: {}\n", c.name, fused ? ", fused" : "", e.what());
        continue;
      }
      for (const ValuesBySize& values : test::sampled(c.sizes, 10, 60)) {
        const graph::KernelGraph g = c.graph(values);
        const TilePrograms at = at_sizes(p, values);
        const auto found = interpret::difference(at, g, reference::random_inputs(g, 1).arrays);
        EXPECT_FALSE(found) << c.name << (fused ? ", fused" : "") << " at " << graph::to_string(values) << ": "
                            << found->text(at);
        if (found) break;
      }
    }
  EXPECT_EQ(refused, "");
}

}  // namespace
}  // namespace zellige::tile
