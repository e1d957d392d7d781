// Custom operators whose given tiles need more shared memory than the target has: others that are proved to compute the same.
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "retile/tiling.hpp"

namespace zellige::run {
namespace {

/// A product in tiles of 64 x 512 and 512 x 128, which take 192 KiB.
graph::KernelGraph large_tiles() {
  graph::Builder b("large_tiles");
  const auto A = b.input("A", {64, 1024}), B = b.input("B", {1024, 256});
  b.output(b.custom({.grid = {2}, .block = {128}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}))), {.x = 1});
                    })[0],
           "C");
  return b.build();
}

TEST(Retiled, TilesThatDoNotFitAreReplacedByOthersThatDo) {
  const graph::KernelGraph g = large_tiles();
  const auto tiling = [&](const char* target, bool fuse) {
    return retile::print(retile::tiling_of(compile(g, target::find(target), {.fuse = fuse}).program.graph));
  };
  const std::string own = retile::print(retile::tiling_of(g));
  for (const bool fuse : {false, true}) {
    EXPECT_EQ(tiling("sm_90a", fuse), own);
    EXPECT_NE(tiling("sm_120a", fuse), own);
  }
  expect_as_reference(g, {integers({64, 1024}, 1), integers({1024, 256}, 2)}, 1e-3, 0, "sm_120a");
}

}  // namespace
}  // namespace zellige::run
