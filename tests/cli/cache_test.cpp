// zellige cache: how much is kept, where, and its end.
#include "toolchain/cache.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "graph/builder.hpp"
#include "json/json.hpp"
#include "system/files.hpp"

namespace {

constexpr const char* graph = R"({"zellige_graph": 1, "name": "rows",
  "inputs": [{"name": "X", "dtype": "f16", "shape": [64, 96]}],
  "operators": [{"op": "exp", "inputs": ["X"], "outputs": ["Y"]}],
  "outputs": ["Y"]})";

struct CacheCommand : Command {
  CacheCommand() { zellige::system::write_whole(path("rows.json"), graph); }
  std::string root() const { return path("cache"); }
};

TEST_F(CacheCommand, TellsListsAndDeletes) {
  expect({"cache"}, 0, fmt::format("{}: 0 entries, 0 bytes\n", root()));
  ASSERT_EQ(run({"transpile", path("rows.json"), "-o", path("out")}).status, 0);
  const auto told = run({"cache"});
  EXPECT_TRUE(told.output.starts_with(root() + ": 1 entries, ")) << told.output;
  EXPECT_TRUE(told.output.ends_with(".prices  estimated times of kernels that were planned\n")) << told.output;
  const auto listed = run({"cache", "--list"});
  EXPECT_NE(listed.output.find(".prices\n" + root() + ": 1 entries, "), listed.output.npos) << listed.output;
  const auto cleared = run({"cache", "--clear"});
  EXPECT_TRUE(cleared.output.starts_with(root() + ": 1 entries deleted, ")) << cleared.output;
  expect({"cache"}, 0, fmt::format("{}: 0 entries, 0 bytes\n", root()));
  // What it remembers of the files that it wrote is no entry: they may be replaced.
  EXPECT_EQ(run({"transpile", path("rows.json"), "-o", path("out")}).status, 0);
}

TEST_F(CacheCommand, NamesKeptProgramsAndDecisions) {
  const zellige::toolchain::Cache cache(root());
  for (const char* kind : {"program", "decisions"}) zellige::toolchain::keep(cache, kind, "key", "text");
  const auto told = run({"cache"});
  EXPECT_NE(told.output.find(".decisions decisions of the torch backend\n"), told.output.npos) << told.output;
  EXPECT_NE(told.output.find(".program programs that were planned\n"), told.output.npos) << told.output;
  EXPECT_TRUE(run({"cache", "--clear"}).output.starts_with(root() + ": 2 entries deleted, "));
  EXPECT_FALSE(zellige::toolchain::kept(cache, "decisions", "key"));
}

TEST_F(CacheCommand, RefusesAFolderThatOthersMayWrite) {
  std::filesystem::create_directory(root());
  std::filesystem::permissions(root(), std::filesystem::perms::all);
  expect({"cache"}, 2,
         fmt::format("zellige: kernel cache {}: its mode is 0777, expected 0700: others may put code there that this "
                     "process runs; make it this user's alone (chmod 700), or set ZELLIGE_CACHE to another folder\n",
                     root()));
}

TEST_F(CacheCommand, ListingWhatIsDeletedIsAMistake) {
  const auto f = run({"cache", "--list", "--clear"});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.output.find("--clear"), f.output.npos) << f.output;
}

/// A loop of `steps` steps, unrolled in the graph: it takes seconds to plan.
zellige::graph::KernelGraph scan(std::int64_t steps) {
  using namespace zellige::graph;
  Builder b("scan");
  const TensorHandle a = b.input("a", {steps, 256, 16}), c = b.input("c", {steps, 16});
  TensorHandle h = b.input("h", {256, 16});
  for (std::int64_t step = 0; step < steps; ++step) {
    h = reshape(slice(a, 0, step, step + 1), {256, 16}) * h + silu(h);
    b.output(matmul(h, reshape(slice(c, 0, step, step + 1), {16, 1})), fmt::format("y{}", step));
  }
  return b.build();
}

// 130: ended by the interrupt; 137: still there four seconds later.
TEST_F(CacheCommand, AnInterruptEndsAPlanAndKeepsNoHalfOfIt) {
  zellige::system::write_whole(path("scan.json"), zellige::json::to_json(scan(400)));
  const auto f = zellige::system::run_process(
      {"timeout", "--preserve-status", "-s", "INT", "-k", "4", "1", ZELLIGE_EXECUTABLE, "optimize", path("scan.json")});
  EXPECT_EQ(f.status, 130) << f.output;
  EXPECT_EQ(f.output, "");
  if (std::filesystem::exists(root()))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root()))
      EXPECT_TRUE(entry.is_directory()) << entry.path();
  expect({"cache"}, 0, fmt::format("{}: 0 entries, 0 bytes\n", root()));
  EXPECT_EQ(run({"optimize", path("rows.json")}).status, 0);
}

}  // namespace
