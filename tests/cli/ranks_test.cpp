// Graphs over ranks on the command line: zellige run --ranks, zellige equal --shard.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::write_whole;

std::string mlp(const std::string& name, const std::string& ranks, int wide, const std::string& end) {
  return fmt::format(
      R"({{"zellige_graph": 1, "name": "{0}", {1}
 "inputs": [{{"name": "x", "dtype": "f32", "shape": [4, 8]}}, {{"name": "up", "dtype": "f32", "shape": [8, {2}]}},
            {{"name": "down", "dtype": "f32", "shape": [{2}, 8]}}],
 "operators": [{{"op": "matmul", "inputs": ["x", "up"], "outputs": ["h"]}},
               {{"op": "relu", "inputs": ["h"], "outputs": ["a"]}},
               {{"op": "matmul", "inputs": ["a", "down"], "outputs": ["p"]}}{3}],
 "outputs": ["{4}"]}})",
      name, ranks, wide, end, end.empty() ? "p" : "y");
}
const std::string reduced = R"(, {"op": "all_reduce", "inputs": ["p"], "outputs": ["y"]})";
const std::string greatest = R"(, {"op": "all_reduce_max", "inputs": ["p"], "outputs": ["y"]})";

struct RanksCommand : Command {
  RanksCommand() {
    for (const char* name : {"WORLD_SIZE", "RANK"}) unsetenv(name);
    write_whole(path("mlp.json"), mlp("mlp", "\"ranks\": 2,", 6, reduced));
    write_whole(path("max.json"), mlp("max", "\"ranks\": 2,", 6, greatest));
    write_whole(path("whole.json"), mlp("whole", "", 12, ""));
    write_whole(path("wider.json"), mlp("wider", "", 18, ""));
  }
};

TEST_F(RanksCommand, RanksRunOnTheEmulator) {
  for (const char* ranks : {"1", "2", "3"}) {
    const auto f = run({"run", path("mlp.json"), "--on", "emulator", "--ranks", ranks});
    EXPECT_EQ(f.status, 0) << f.output;
    EXPECT_NE(f.output.find(" correct "), f.output.npos) << f.output;
    EXPECT_NE(f.output.find(fmt::format("note: {} ranks, each with", ranks)), f.output.npos) << f.output;
  }
  EXPECT_NE(run({"run", path("mlp.json"), "--on", "reference"}).output.find("reference"), std::string::npos);
}

TEST_F(RanksCommand, ShardedGraphIsTheWholeOne) {
  const std::string shards = "up=1,down=0";
  EXPECT_EQ(run({"equal", path("mlp.json"), path("whole.json"), "--shard", shards}).status, 0);
  EXPECT_EQ(run({"equal", path("whole.json"), path("mlp.json"), "--shard", "up=1", "--shard", "down=0"}).status, 0);
  EXPECT_EQ(run({"equal", path("mlp.json"), path("wider.json"), "--shard", shards, "--ranks", "3"}).status, 0);
  EXPECT_EQ(run({"equal", path("max.json"), path("whole.json"), "--shard", shards}).status, 1);
}

TEST_F(RanksCommand, WrongShardsAreRefused) {
  const auto refused = [&](const std::string& shard, const std::string& why) {
    expect({"equal", path("mlp.json"), path("whole.json"), "--shard", shard}, 2, "zellige: " + why + "\n");
  };
  refused("up", "--shard: expected NAME=DIM, with a dimension of 0 to 7, found up");
  refused("up=x", "--shard: expected NAME=DIM, with a dimension of 0 to 7, found up=x");
  refused("z=0", "graph mlp: expected a sharded tensor to be an input or an output, found z");
  refused("up=2", "graph mlp: expected up to be sharded along a dimension of (8, 6), found 2");
  refused("up=0,down=0",
          "mlp and whole: expected inputs of one name of the same shape, found up of (16, 6) and up of (8, 12)");
  expect({"equal", path("whole.json"), path("whole.json"), "--shard", "up=1"}, 2,
         "zellige: --shard: expected a graph over ranks, found none: neither whole nor whole has ranks\n");
}

TEST_F(RanksCommand, TranspileWritesTheProgramsAndTheListOfSteps) {
  const auto f = run({"transpile", path("mlp.json"), "-o", path("out"), "--constant", "up"});
  EXPECT_EQ(f.status, 0) << f.output;
  EXPECT_EQ(f.output, fmt::format("{0}/mlp_0.cu\n{0}/mlp_0.manifest.json\n{0}/mlp.ranks.json\n", path("out")));
  const auto j = nlohmann::json::parse(zellige::system::read_whole(path("out/mlp.ranks.json")));
  EXPECT_EQ(j["ranks"], 2);
  ASSERT_EQ(j["steps"].size(), 2U);
  EXPECT_EQ(j["steps"][0]["program"], "mlp_0.manifest.json");
  EXPECT_EQ(j["steps"][0]["inputs"], nlohmann::json({"x", "up", "down"}));
  EXPECT_EQ(j["steps"][1]["collective"], "all_reduce");
  EXPECT_EQ(j["steps"][1]["outputs"], nlohmann::json({"y"}));
  EXPECT_EQ(j["tensors"].size(), 5U);
}

// What takes one program refuses a graph that is several.
TEST_F(RanksCommand, OptimizeRefusesSeveralPrograms) {
  expect({"optimize", path("mlp.json")}, 2,
         "zellige: graph mlp, operator 3 (all_reduce): expected a graph without collectives, found one over 2 ranks; "
         "`zellige "
         "run` runs it, as programs between its collectives\n");
}

}  // namespace
