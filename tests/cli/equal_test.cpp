// zellige equal as a user runs it.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "graph/load.hpp"
#include "graph/reference.hpp"
#include "run/files.hpp"

namespace {

using zellige::run::write_whole;

std::string graph(const std::string& name, const std::string& operators,
                  const std::string& shape = "[8, 64]") {
  return R"({"zellige_graph": 1, "name": ")" + name +
         R"(", "inputs": [{"name": "X", "dtype": "f16", "shape": )" + shape + R"(}], "operators": [)" +
         operators + R"(], "outputs": ["Y"]})";
}
const std::string twice = R"({"op": "add", "inputs": ["X", "X"], "outputs": ["Y"]})";
const std::string doubled = R"({"op": "mul_scalar", "scalar": 2, "inputs": ["X"], "outputs": ["Y"]})";
const std::string squared = R"({"op": "square", "inputs": ["X"], "outputs": ["Y"]})";

TEST_F(Command, EqualGraphs) {
  write_whole(path("a.json"), graph("a", twice));
  write_whole(path("b.json"), graph("b", doubled));
  expect({"equal", path("a.json"), path("b.json")}, 0,
         "a and b: equal\n"
         "  the same in 4 random finite fields\n"
         "  at small sizes X(2, 2), inputs paired by name\n"
         "  wrong with a chance of at most 2^-180\n"
         "  at the given sizes, in float64: 0 apart\n");
}

TEST_F(Command, DifferentGraphsAndTheirCounterexample) {
  write_whole(path("a.json"), graph("a", twice));
  write_whole(path("b.json"), graph("b", squared));
  const auto f = run({"equal", path("a.json"), path("b.json"), "--counterexample", path("c.json")});
  EXPECT_EQ(f.status, 1);
  EXPECT_EQ(f.output.find("a and b: different\n  the values are proved to differ"), 0u) << f.output;
  // The file is enough to see the difference again.
  const auto c = nlohmann::json::parse(std::ifstream(path("c.json")));
  zellige::graph::ReferenceOptions exact;
  exact.round = false;
  zellige::graph::Array x{c["inputs"][0]["shape"].get<zellige::graph::Shape>(), {}};
  for (const auto& text : c["inputs"][0]["values"]) x.values.push_back(std::stod(text.get<std::string>()));
  const auto element = c["element"].get<std::vector<std::size_t>>();
  for (const char* side : {"a", "b"}) {
    const auto g = zellige::graph::load_text(c["graphs"][side].dump(), "c.json", side).at(0).graph;
    const auto y = zellige::graph::run_reference(g, {x}, exact).at(0);
    EXPECT_DOUBLE_EQ(y.values.at(element[0] * static_cast<std::size_t>(y.shape[1]) + element[1]),
                     std::stod(c[side].get<std::string>()));
  }
  EXPECT_NE(c["a"], c["b"]);
}

TEST_F(Command, EqualOfMany) {
  write_whole(path("a.json"), graph("a", twice));
  write_whole(path("b.json"), "[" + graph("b0", doubled) + "," + graph("b1", squared) + "," +
                                  graph("b2", doubled, "[8, 32]") + "]");
  const auto f = run({"equal", path("a.json"), path("b.json"), "--all"});
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.output.find("a and b0: equal"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("a and b1: different"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("a and b2: undecided\n  a and b2: expected inputs of one name of the same shape, "
                          "found X of (8, 64) and X of (8, 32)\n"),
            std::string::npos)
      << f.output;
  EXPECT_NE(f.output.find("3 graphs: 1 equal, 1 different, 1 undecided"), std::string::npos) << f.output;
  EXPECT_EQ(run({"equal", path("a.json"), path("b.json"), "--index", "1"}).status, 1);
  EXPECT_EQ(run({"equal", path("a.json"), path("b.json"), "--index", "0", "--json"}).status, 0);
  expect({"equal", path("a.json"), path("b.json"), "--index", "2"}, 2,
         "zellige: a and b2: expected inputs of one name of the same shape, found X of (8, 64) and X of (8, "
         "32)\n");
  expect({"equal", path("a.json"), path("b.json"), "--index", "3"}, 2,
         fmt::format("zellige: {}: --index 3 is out of range; the file holds 3 graphs, counted from 0\n",
                     path("b.json")));
}

TEST_F(Command, EqualAsJson) {
  write_whole(path("a.json"), graph("a", twice));
  write_whole(path("b.json"), graph("b", squared));
  const auto f = run({"equal", path("a.json"), path("b.json"), "--json", "--seed", "5"});
  EXPECT_EQ(f.status, 1);
  const auto j = nlohmann::json::parse(f.output);
  EXPECT_EQ(j["answer"], "different");
  EXPECT_EQ(j["counterexample"]["output"], "Y");
  EXPECT_NE(j["counterexample"]["a"], j["counterexample"]["b"]);
  const auto same =
      nlohmann::json::parse(run({"equal", path("a.json"), path("a.json"), "--json", "--trials", "9"}).output);
  EXPECT_EQ(same["answer"], "equal");
  EXPECT_EQ(same["fields"], 9);
  EXPECT_TRUE(same["chance_proved"]);
  EXPECT_LT(same["log2_chance"], -300);
}

TEST_F(Command, WrongUseOfEqual) {
  expect({"equal", "x.json"}, 2, "zellige: B is required (zellige equal --help tells how it is used)\n");
  const auto f = run({"equal", "absent.json", "absent.json"});
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output.find("zellige: absent.json: expected a graph file"), 0u) << f.output;
  const auto help = run({"equal", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("Exit status: 0 equal; 1 different; 2 undecided"), std::string::npos)
      << help.output;
}

}  // namespace
