// explain: what it prints, what it writes, and what it refuses.
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::read_whole;
using zellige::system::write_whole;

struct Explain : Command {
  Explain() {
    write_whole(path("rows.json"),
                R"({"zellige_graph": 1, "name": "rows", "inputs": [{"name": "X", "dtype": "f16", "shape": [64, 96]}],
      "operators": [{"op": "softmax", "inputs": ["X"], "dim": 1, "outputs": ["Y"]}], "outputs": ["Y"]})");
    write_whole(path("wide.json"),
                R"({"zellige_graph": 1, "name": "wide", "inputs": [{"name": "X", "dtype": "f16", "shape": [64, 960]}],
      "operators": [{"op": "softmax", "inputs": ["X"], "dim": 1, "outputs": ["Y"]}], "outputs": ["Y"]})");
  }
};

TEST_F(Explain, PrintsWhatBoundsALaunch) {
  const auto f = run({"explain", path("rows.json")});
  EXPECT_EQ(f.status, 0);
  EXPECT_TRUE(f.output.starts_with("rows, sm_90a: 1 operators in 1 launch, ")) << f.output;
  EXPECT_NE(f.output.find("\nlaunch 0: rows_k0, "), f.output.npos) << f.output;
}

TEST_F(Explain, WritesAPageOrJson) {
  EXPECT_EQ(run({"explain", path("rows.json"), "-o", path("page.html")}).status, 0);
  EXPECT_TRUE(read_whole(path("page.html")).starts_with("<!doctype html>"));
  EXPECT_EQ(run({"explain", path("rows.json"), "--json", "-o", path("a.json")}).status, 0);
  EXPECT_EQ(nlohmann::json::parse(read_whole(path("a.json"))).at("graph"), "rows");
}

TEST_F(Explain, ComparesTwoGraphs) {
  const auto f = run({"explain", path("rows.json"), "--against", path("wide.json"), "--alternatives", "0"});
  EXPECT_EQ(f.status, 0);
  EXPECT_NE(f.output.find("\nrows and wide: "), f.output.npos) << f.output;
}

TEST_F(Explain, RefusesWhatItCannotDo) {
  const auto missing = run({"explain", path("none.json")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.output, "zellige: " + path("none.json") +
                                ": expected a graph file that can be read, found: No such file or directory\n");
  EXPECT_EQ(run({"explain", path("rows.json"), "--against", path("wide.json"), "--json"}).status, 2);
  const auto over =
      run({"explain", path("rows.json"), "--against", path("wide.json"), "-o", path("wide.json"), "--force"});
  EXPECT_EQ(over.status, 2) << over.output;
  const auto same = run({"explain", path("rows.json"), "-o", path("rows.json"), "--force"});
  EXPECT_EQ(same.status, 2) << same.output;
  write_whole(
      path("ranks.json"),
      R"({"zellige_graph": 1, "name": "sums", "ranks": 2, "inputs": [{"name": "X", "dtype": "f16", "shape": [8, 8]}],
      "operators": [{"op": "all_reduce", "inputs": ["X"], "outputs": ["Y"]}], "outputs": ["Y"]})");
  const auto ranks = run({"explain", path("ranks.json")});
  EXPECT_EQ(ranks.status, 2);
  EXPECT_EQ(ranks.output, "zellige: sums: a graph over ranks is explained step by step: transpile --explain does\n");
}

}  // namespace
