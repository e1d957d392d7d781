// zellige equal as a user runs it.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../loaded.hpp"
#include "command.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"
#include "system/files.hpp"

namespace {

using zellige::system::write_whole;

std::string graph_text(const std::string& name, const std::string& operators, const std::string& shape = "[8, 64]") {
  return R"({"zellige_graph": 1, "name": ")" + name + R"(", "inputs": [{"name": "X", "dtype": "f16", "shape": )" +
         shape + R"(}], "operators": [)" + operators + R"(], "outputs": ["Y"]})";
}
const std::string twice = R"({"op": "add", "inputs": ["X", "X"], "outputs": ["Y"]})";
const std::string doubled = R"({"op": "mul_scalar", "scalar": 2, "inputs": ["X"], "outputs": ["Y"]})";
const std::string squared = R"({"op": "square", "inputs": ["X"], "outputs": ["Y"]})";

TEST_F(Command, EqualGraphs) {
  write_whole(path("a.json"), graph_text("a", twice));
  write_whole(path("b.json"), graph_text("b", doubled));
  expect({"equal", path("a.json"), path("b.json"), "--seed", "7"}, 0,
         "a and b: equal\n"
         "  the same in 1 random finite field\n"
         "  at the given sizes X(8, 64), inputs paired by name\n"
         "  wrong with a chance of at most 2^-45\n"
         "  seed 7\n");
  expect({"equal", path("a.json"), path("b.json"), "--seed", "7", "--small", "--trials", "3"}, 0,
         "a and b: equal\n"
         "  the same in 3 random finite fields\n"
         "  at small sizes X(2, 2), inputs paired by name\n"
         "  wrong with a chance of at most 2^-135\n"
         "  seed 7\n");
  expect({"equal", path("a.json"), path("a.json"), "--seed", "7"}, 0,
         "a and a: equal\n"
         "  the same operators on the same operands, which proves it\n"
         "  at the given sizes X(8, 64), inputs paired by name\n"
         "  seed 7\n");
  // Without --seed a random one, which gives the same answer again.
  const auto first = run({"equal", path("a.json"), path("b.json"), "--json"});
  const auto j = nlohmann::json::parse(first.output);
  const auto again = run(
      {"equal", path("a.json"), path("b.json"), "--json", "--seed", std::to_string(j["seed"].get<std::uint64_t>())});
  for (const char* key : {"answer", "why", "method", "log2_chance", "seed"})
    EXPECT_EQ(j[key], nlohmann::json::parse(again.output)[key]) << key;
  EXPECT_NE(j["seed"], nlohmann::json::parse(run({"equal", path("a.json"), path("b.json"), "--json"}).output)["seed"]);
}

const std::string undefined = R"({"op": "square", "inputs": ["X"], "outputs": ["s"]},
                                 {"op": "add", "inputs": ["s"], "scalar": 1, "outputs": ["t"]},
                                 {"op": "mul_scalar", "inputs": ["t"], "scalar": -1, "outputs": ["u"]},
                                 {"op": ")";
const std::string to_y = R"(", "inputs": ["u"], "outputs": ["Y"]})";

TEST_F(Command, UndecidedGraphs) {
  write_whole(path("a.json"), graph_text("a", undefined + "log" + to_y));
  write_whole(path("b.json"), graph_text("b", undefined + "sqrt" + to_y));
  expect({"equal", path("a.json"), path("b.json"), "--seed", "7"}, 3,
         "a and b: undecided\n"
         "  no element of the outputs has a value anywhere\n"
         "  at small sizes X(2, 2), inputs paired by name\n"
         "  seed 7\n");
  const auto j = nlohmann::json::parse(run({"equal", path("a.json"), path("b.json"), "--json", "--seed", "7"}).output);
  EXPECT_EQ(j["answer"], "undecided");
  EXPECT_EQ(j["method"], "");
  EXPECT_TRUE(j["log2_chance"].is_null());
  EXPECT_EQ(j["seed"], 7);
}

TEST_F(Command, DifferentGraphs) {
  write_whole(path("a.json"), graph_text("a", twice));
  write_whole(path("b.json"), graph_text("b", squared));
  expect({"equal", path("a.json"), path("b.json"), "--seed", "7"}, 1,
         "a and b: different\n"
         "  the values are proved to differ: farther from each other than what was lost in computing them\n"
         "  at small sizes X(2, 2), inputs paired by name\n"
         "  seed 7\n"
         "  Y(1, 1) is 2 in a and 1 in b (real numbers)\n"
         "    X(2, 2) = 0 0 0 1\n");
}

/// 1 outweighs 3, which outweighs 2.
TEST_F(Command, EqualOfManyHasTheWorstStatus) {
  const std::string same = graph_text("same", undefined + "log" + to_y),
                    open = graph_text("open", undefined + "sqrt" + to_y);
  const std::string other = graph_text("other", doubled), shape = graph_text("shape", doubled, "[8, 32]");
  write_whole(path("a.json"), graph_text("a", undefined + "log" + to_y));
  const auto status = [&](const std::string& graphs) {
    write_whole(path("b.json"), "[" + graphs + "]");
    return run({"equal", path("a.json"), path("b.json"), "--all"}).status;
  };
  EXPECT_EQ(status(same), 0);
  EXPECT_EQ(status(same + "," + shape), 2);
  EXPECT_EQ(status(shape + "," + open + "," + same), 3);
  EXPECT_EQ(status(open + "," + shape + "," + other), 1);
  write_whole(path("b.json"), "[" + same + "," + open + "," + shape + "]");
  expect({"equal", path("a.json"), path("b.json"), "--all", "--seed", "7"}, 3,
         "a and same: equal\n"
         "  the same operators on the same operands, which proves it\n"
         "  at the given sizes X(8, 64), inputs paired by name\n"
         "  seed 7\n"
         "a and open: undecided\n"
         "  no element of the outputs has a value anywhere\n"
         "  at small sizes X(2, 2), inputs paired by name\n"
         "  seed 7\n"
         "a and shape: not compared\n"
         "  a and shape: expected inputs of one name of the same shape, found X of (8, 64) and X of (8, 32)\n"
         "\n3 graphs: 1 equal, 0 different, 1 undecided, 1 not compared\n");
}

TEST_F(Command, DifferentGraphsAndTheirCounterexample) {
  write_whole(path("a.json"), graph_text("a", twice));
  write_whole(path("b.json"), graph_text("b", squared));
  const auto f = run({"equal", path("a.json"), path("b.json"), "--counterexample", path("c.json")});
  EXPECT_EQ(f.status, 1);
  EXPECT_EQ(f.output.find("a and b: different\n  the values are proved to differ"), 0u) << f.output;
  // The file is enough to see the difference again.
  const auto c = nlohmann::json::parse(std::ifstream(path("c.json")));
  zellige::reference::ReferenceOptions exact;
  exact.round = false;
  zellige::reference::Array x{c["inputs"][0]["shape"].get<zellige::graph::Shape>(), {}};
  for (const auto& text : c["inputs"][0]["values"]) x.values.push_back(std::stod(text.get<std::string>()));
  const auto element = c["element"].get<std::vector<std::size_t>>();
  for (const char* side : {"a", "b"}) {
    const auto g = zellige::json::load_text(c["graphs"][side].dump(), "c.json", side).at(0).graph;
    const auto y = zellige::reference::run_reference(g, {x}, exact).at(0);
    EXPECT_DOUBLE_EQ(y.values.at(element[0] * static_cast<std::size_t>(y.shape[1]) + element[1]),
                     std::stod(c[side].get<std::string>()));
  }
  EXPECT_NE(c["a"], c["b"]);
}

TEST_F(Command, EqualOfMany) {
  write_whole(path("a.json"), graph_text("a", twice));
  write_whole(path("b.json"), "[" + graph_text("b0", doubled) + "," + graph_text("b1", squared) + "," +
                                  graph_text("b2", doubled, "[8, 32]") + "]");
  const auto f = run({"equal", path("a.json"), path("b.json"), "--all"});
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.output.find("a and b0: equal"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("a and b1: different"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find("a and b2: not compared\n  a and b2: expected inputs of one name of the same shape, "
                          "found X of (8, 64) and X of (8, 32)\n"),
            std::string::npos)
      << f.output;
  EXPECT_NE(f.output.find("3 graphs: 1 equal, 1 different, 0 undecided, 1 not compared"), std::string::npos)
      << f.output;
  EXPECT_EQ(run({"equal", path("a.json"), path("b.json"), "--index", "1"}).status, 1);
  EXPECT_EQ(run({"equal", path("a.json"), path("b.json"), "--index", "0", "--json"}).status, 0);
  expect({"equal", path("a.json"), path("b.json"), "--index", "2"}, 2,
         "zellige: a and b2: expected inputs of one name of the same shape, found X of (8, 64) and X of (8, "
         "32)\n");
  expect(
      {"equal", path("a.json"), path("b.json"), "--index", "3"}, 2,
      fmt::format("zellige: {}: --index 3 is out of range; the file holds 3 graphs, counted from 0\n", path("b.json")));
}

TEST_F(Command, EqualAsJson) {
  write_whole(path("a.json"), graph_text("a", twice));
  write_whole(path("c.json"), graph_text("c", doubled));
  write_whole(path("b.json"), graph_text("b", squared));
  const auto f = run({"equal", path("a.json"), path("b.json"), "--json", "--seed", "5"});
  EXPECT_EQ(f.status, 1);
  const auto j = nlohmann::json::parse(f.output);
  EXPECT_EQ(j["answer"], "different");
  EXPECT_EQ(j["counterexample"]["output"], "Y");
  EXPECT_NE(j["counterexample"]["a"], j["counterexample"]["b"]);
  const auto same =
      nlohmann::json::parse(run({"equal", path("a.json"), path("c.json"), "--json", "--trials", "9"}).output);
  EXPECT_EQ(same["answer"], "equal");
  EXPECT_EQ(same["fields"], 9);
  EXPECT_TRUE(same["chance_proved"]);
  EXPECT_LT(same["log2_chance"], -300);
  const auto proved = nlohmann::json::parse(run({"equal", path("a.json"), path("a.json"), "--json"}).output);
  EXPECT_EQ(proved["method"], "structure");
  EXPECT_TRUE(proved["log2_chance"].is_null());
}

TEST_F(Command, WrongUseOfEqual) {
  expect({"equal", "x.json"}, 2, "zellige: B is required (zellige equal --help shows the usage)\n");
  const auto f = run({"equal", "absent.json", "absent.json"});
  EXPECT_EQ(f.status, 2);
  EXPECT_EQ(f.output.find("zellige: absent.json: expected a graph file"), 0u) << f.output;
  const auto help = run({"equal", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("Exit status: 0 equal; 1 different; 2 the graphs cannot be compared; 3 undecided"),
            std::string::npos)
      << help.output;
}

}  // namespace
