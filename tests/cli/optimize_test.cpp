// optimize, and run and transpile on unfused operators.
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::read_whole;
using zellige::system::write_whole;

/// Y = softmax(X + 1): two unfused operators.
constexpr const char* rows = R"({"zellige_graph": 1, "name": "rows",
  "inputs": [{"name": "X", "dtype": "f16", "shape": [64, 96]}],
  "operators": [{"op": "add", "inputs": ["X"], "scalar": 1, "outputs": ["T"]},
                {"op": "softmax", "inputs": ["T"], "dim": 1, "outputs": ["Y"]}],
  "outputs": ["Y"]})";

struct Optimize : Command {
  Optimize() { write_whole(path("rows.json"), rows); }
  std::size_t kernels_of(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", path("out"), "--force"});
    const auto f = run(words);
    EXPECT_EQ(f.status, 0) << f.output;
    return nlohmann::json::parse(read_whole(path("out/rows.manifest.json"))).at("kernels").size();
  }
};

TEST_F(Optimize, WritesAGraphThatComputesTheSame) {
  const auto f = run({"optimize", path("rows.json"), "-o", path("fused.json")});
  EXPECT_EQ(f.status, 0);
  EXPECT_TRUE(f.output.starts_with("rows: 2 operators in 1 kernel, ")) << f.output;
  EXPECT_NE(f.output.find(" us, at least "), f.output.npos) << f.output;
  EXPECT_NE(f.output.find("T = add, Y = softmax\n"), f.output.npos) << f.output;
  const auto g = nlohmann::json::parse(read_whole(path("fused.json")));
  EXPECT_EQ(g.at("operators").size(), 1u);
  EXPECT_EQ(g.at("operators").at(0).at("op"), "custom");
  EXPECT_EQ(run({"equal", path("rows.json"), path("fused.json")}).status, 0);
}

TEST_F(Optimize, StdoutIsTheGraphAlone) {
  const auto f = run({"optimize", path("rows.json"), "-o", "-"});
  EXPECT_EQ(f.status, 0);
  EXPECT_EQ(nlohmann::json::parse(f.output).at("name"), "rows");
}

TEST_F(Optimize, TranspileAndRunFuseUnlessToldNotTo) {
  EXPECT_EQ(kernels_of({"transpile", path("rows.json")}), 1u);
  EXPECT_EQ(kernels_of({"transpile", path("rows.json"), "--as-given"}), 2u);
  for (const bool unfused : {false, true}) {
    std::vector<std::string> words{"run", path("rows.json"), "--on", "emulator", "--json", path("r.json"), "--force"};
    if (unfused) words.push_back("--as-given");
    const auto f = run(words);
    EXPECT_EQ(f.status, 0) << f.output;
    const auto r = nlohmann::json::parse(read_whole(path("r.json")));
    EXPECT_EQ(r.at("status"), "correct");
    EXPECT_EQ(r.at("kernels").size(), unfused ? 2u : 1u);
    EXPECT_EQ(r.at("tensors").size(), unfused ? 2u : 1u) << "T is stored only unfused";
  }
}

TEST_F(Optimize, ABadGraphIsOneMessage) {
  expect({"optimize", path("nowhere.json")}, 2,
         "zellige: " + path("nowhere.json") +
             ": expected a graph file that can be read, found: No such file or directory\n");
}

}  // namespace
