// A graph equal to one that was planned before is fused the same way without planning its kernels.
#include "run/plan_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "folder.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "json/json.hpp"

namespace zellige::run {
namespace {

const target::Target& sm_90a() { return target::find("sm_90a"); }

graph::KernelGraph rows(const std::string& named) {
  graph::Builder b(named);
  b.output(softmax(exp(b.input(named + "_in", {64, 512})), 1), named + "_out");
  return b.build();
}

TEST(PlanCache, EqualGraphsArePlannedOnce) {
  const Folder folder;
  std::string first;
  {
    PlanCache kept(toolchain::Cache(folder.path), sm_90a());
    EXPECT_EQ(kept.size(), 0u);
    first = json::to_json(fuse::optimize(rows("a"), sm_90a(), kept.costs()).graph);
    EXPECT_GT(kept.costs().added().size(), 0u);
    kept.keep();
  }
  PlanCache kept(toolchain::Cache(folder.path), sm_90a());
  EXPECT_GT(kept.size(), 0u);
  EXPECT_EQ(json::to_json(fuse::optimize(rows("a"), sm_90a(), kept.costs()).graph), first);
  EXPECT_EQ(kept.costs().added().size(), 0u);
  fuse::optimize(rows("b"), sm_90a(), kept.costs());
  EXPECT_EQ(kept.costs().added().size(), 0u) << "it differs by names alone";
  EXPECT_EQ(PlanCache(toolchain::Cache(folder.path), target::find("sm_80")).size(), 0u);
}

TEST(PlanCache, NewEstimatesJoinThoseBefore) {
  const Folder folder;
  for (const std::size_t planned : {1u, 2u, 3u}) {
    PlanCache kept(toolchain::Cache(folder.path), sm_90a());
    EXPECT_EQ(kept.size(), planned - 1);
    kept.costs().add(std::to_string(planned), static_cast<double>(planned));
    kept.keep();
  }
  PlanCache kept(toolchain::Cache(folder.path), sm_90a());
  EXPECT_EQ(kept.costs().find("1"), 1.0);
  EXPECT_EQ(kept.costs().find("3"), 3.0);
  EXPECT_EQ(kept.costs().find("4"), std::nullopt);
}

TEST(PlanCache, GraphsThatArePlannedInParallelKeepTheEstimatesOfAll) {
  const Folder folder;
  {
    PlanCache first(toolchain::Cache(folder.path), sm_90a()), second(toolchain::Cache(folder.path), sm_90a());
    first.costs().add("1", 1);
    second.costs().add("2", 2);
    first.keep(), second.keep();
  }
  PlanCache kept(toolchain::Cache(folder.path), sm_90a());
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept.costs().find("1"), 1.0);
  EXPECT_EQ(kept.costs().find("2"), 2.0);
}

TEST(PlanCache, IsBounded) {
  const Folder folder;
  for (const char* half : {"a", "b"}) {
    PlanCache kept(toolchain::Cache(folder.path), sm_90a());
    for (std::size_t i = 0; i <= PlanCache::max_costs / 2; ++i) kept.costs().add(half + std::to_string(i), 1);
    kept.keep();
  }
  PlanCache kept(toolchain::Cache(folder.path), sm_90a());
  EXPECT_EQ(kept.size(), PlanCache::max_costs / 2 + 1);
  EXPECT_TRUE(kept.costs().find("b7"));
  EXPECT_FALSE(kept.costs().find("a7"));
}

TEST(PlanCache, ADamagedEntryIsMadeAgain) {
  const Folder folder;
  const toolchain::Cache cache(folder.path);
  {
    PlanCache kept(cache, sm_90a());
    kept.costs().add("x", 1);
    kept.keep();
  }
  ASSERT_EQ(cache.entries().size(), 1u);
  std::fstream(cache.entries()[0].file, std::ios::in | std::ios::out).put('?');
  PlanCache kept(cache, sm_90a());
  EXPECT_EQ(kept.size(), 0u);
  kept.costs().add("x", 2);
  kept.keep();
  EXPECT_EQ(PlanCache(cache, sm_90a()).size(), 1u);
}

TEST(PlanCache, AFolderThatCannotBeMadeKeepsNothing) {
  PlanCache kept(toolchain::Cache("/dev/null/cache"), sm_90a());
  kept.costs().add("x", 1);
  EXPECT_NO_THROW(kept.keep());
}

}  // namespace
}  // namespace zellige::run
