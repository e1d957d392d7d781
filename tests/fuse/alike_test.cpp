// Groups that differ only in the order of independent operators are planned once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../loaded.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "rewrite/canonical_order.hpp"

namespace zellige::fuse {
namespace {

/// Two products that share x: silu(x a) and x b; `swapped`: the second comes first, everywhere.
graph::KernelGraph two(bool swapped) {
  const auto input = [](const char* t) {
    return fmt::format(R"({{"op": "input", "from": "{0}", "map": {{}}, "loop_dim": -1, "outputs": ["{0}_tile"]}})", t);
  };
  const std::string first = input("a") + R"(,
    {"op": "matmul", "inputs": ["x_tile", "a_tile"], "outputs": ["p"]},
    {"op": "silu", "inputs": ["p"], "outputs": ["q"]},
    {"op": "output", "inputs": ["q"], "map": {}, "to": "y"})";
  const std::string second = input("b") + R"(,
    {"op": "matmul", "inputs": ["x_tile", "b_tile"], "outputs": ["r"]},
    {"op": "output", "inputs": ["r"], "map": {}, "to": "z"})";
  const std::string text = fmt::format(
      R"({{"zellige_graph": 1, "name": "two",
        "inputs": [{{"name": "x", "dtype": "f16", "shape": [16, 32]}}, {{"name": "a", "dtype": "f16", "shape": [32, 64]}},
                   {{"name": "b", "dtype": "f16", "shape": [32, 16]}}],
        "operators": [{{"op": "custom", "inputs": [{0}], "outputs": [{1}], "grid": [1, 1, 1], "block": [128, 1, 1], "loop": 1,
                       "body": [{2}, {3}, {4}]}}],
        "outputs": [{1}]}})",
      swapped ? R"("x", "b", "a")" : R"("x", "a", "b")", swapped ? R"("z", "y")" : R"("y", "z")", input("x"),
      swapped ? second : first, swapped ? first : second);
  const std::vector<json::Loaded> found = json::load_text(text, "two", "two");
  EXPECT_EQ(found.at(0).error, "");
  return found.at(0).graph;
}

std::string ordered(const graph::KernelGraph& g) { return json::to_json(graph::infer(rewrite::in_one_order(g))); }

std::string body_of(const std::string& json) { return json.substr(json.find("\"operators\"")); }

TEST(CanonicalOrder, PartsInEitherOrderAreOneGraph) {
  EXPECT_NE(json::to_json(two(false)), json::to_json(two(true)));
  EXPECT_EQ(body_of(ordered(two(false))), body_of(ordered(two(true))));
  EXPECT_EQ(ordered(rewrite::in_one_order(two(true))), ordered(two(true)));
}

/// Plans depend on the order of operators that read each other: it stays.
TEST(CanonicalOrder, AnOrderWithinAPartIsKept) {
  for (const bool swapped : {false, true}) {
    const std::string text = body_of(ordered(two(swapped)));
    const auto at = [&](const char* op) { return text.find(fmt::format("\"op\":\"{}\"", op)); };
    ASSERT_NE(at("silu"), text.npos);
    EXPECT_LT(text.find("\"outputs\":[\"p\"]"), at("silu"));
  }
}

}  // namespace
}  // namespace zellige::fuse
