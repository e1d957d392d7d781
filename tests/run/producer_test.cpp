// A producer that loads the tiles of products by mma.sync with TMA, as emitted for sm_120a: both majors of both operands, several
// warps along K, several products of one tile, and where cp.async stays.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "kernel/kernel.hpp"
#include "tiled_product.hpp"
#include "verify/proofs.hpp"

namespace zellige::run {
namespace {

using graph::DType;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::string source_on(const graph::KernelGraph& g, const char* target) {
  return test::transpile(g, target::find(target), {}).source;
}

TEST(Producer, LoadsTilesOfProductsByWarps) {
  std::size_t place = 0;
  for (const bool a_along_m : {true, false})
    for (const bool b_along_k : {true, false}) {
      if (!test::one_a_row(place++, 2)) continue;
      const TiledProduct c{256, 256, 384, a_along_m, b_along_k, b_along_k ? DType::f16 : DType::bf16};
      const graph::KernelGraph g = tiled(c);
      const std::string source = source_on(g, "sm_120a");
      for (const char* part :
           {"producer<1, 0>([&] {", "tma_load_2d(ring.tile(ring_at, 0)", "multiply<", "__syncwarp();"})
        EXPECT_TRUE(contains(source, part)) << part << "\n" << source;
      EXPECT_FALSE(contains(source, "cp_async"));
      expect_as_reference(g, {integers({c.m, c.k}, 1), integers({c.k, c.n}, 2)}, 0, 0, "sm_120a");
    }
}

// Where warpgroups multiply, or there is no TMA, nothing changes.
TEST(Producer, IsOfTargetsWithTmaAndNoProductsOfWarpgroups) {
  const graph::KernelGraph g = tiled({256, 256, 384, false, true, DType::f16});
  EXPECT_FALSE(contains(source_on(g, "sm_89"), "tma_load"));
  for (const char* target : {"sm_90a", "sm_100a"}) EXPECT_FALSE(contains(source_on(g, target), "multiply<")) << target;
}

// One lane releases a stage for its warp: the others have read it before.
TEST(Producer, ReleasesWhatAllLanesHaveRead) {
  const target::Target& target = target::find("sm_120a");
  const plan::Plan plan = test::make_plan(tiled({256, 256, 384, false, true, DType::f16}), target);
  kernel::Kernel k = plan.kernels.at(0);
  int removed = 0;
  const auto remove = [&](const auto& self, std::vector<kernel::Step>& steps) -> void {
    removed += static_cast<int>(
        std::erase_if(steps, [](const kernel::Step& s) { return kernel::as<kernel::WarpBarrier>(s); }));
    for (kernel::Step& s : steps)
      if (kernel::Loop* loop = kernel::as<kernel::Loop>(s)) self(self, loop->body);
  };
  remove(remove, k.agents.at(0).steps);
  ASSERT_EQ(removed, 1);
  try {
    verify::verify(k, target);
    FAIL() << "not rejected";
  } catch (const Rejected& e) {
    EXPECT_TRUE(
        contains(e.what(),
                 "releases a stage of channel ring that its lanes have read; one lane does it for its warp, so a "
                 "warp_barrier comes before"))
        << e.what();
  }
}

}  // namespace
}  // namespace zellige::run
