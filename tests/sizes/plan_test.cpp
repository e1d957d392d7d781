// Programs with sizes are planned and proved for all values; what breaks a proof for one value alone is rejected.
#include <gtest/gtest.h>

#include "cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/separate.hpp"
#include "graph/error.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {
namespace {

using test::SizedCase;

Plan planned(const SizedCase& c, const char* target_name, bool fused) {
  const target::Target& target = target::find(target_name);
  const graph::KernelGraph given = c.graph(test::largest(c.sizes));
  const graph::KernelGraph g = fused ? fuse::optimize(given, target).graph : fuse::separate(given, target);
  return make_plan(g, target, {.sizes = test::of_graph(c, g)});
}

TEST(Sizes, AreProvedForAllValues) {
  std::string refused;
  for (const SizedCase& c : test::sized_cases())
    for (const char* target : {"sm_80", "sm_90a"})
      for (const bool fused : {true, false}) {
        try {
          planned(c, target, fused);
        } catch (const std::exception& e) {
          refused += fmt::format("{} on {}{}: {}\n", c.name, target, fused ? ", fused" : "", e.what());
        }
      }
  EXPECT_EQ(refused, "");
}

}  // namespace
}  // namespace zellige::plan
