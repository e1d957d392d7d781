// Parts of tensors whose ends are known at launch: caches that grow, the last rows, rows of a table from a size on, and keys up to one. One program,
// compiled once, is right on the emulator at the ends of its sizes and at random values of them.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/ir.hpp"
#include "json/json.hpp"
#include "json/json_text.hpp"
#include "run/compile.hpp"
#include "sized_run.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

graph::KernelGraph graph_of(const std::string& text) {
  return json::from_json(json::parse_json(text, "graph"), "graph");
}

/// The graph of operators on inputs, with the sizes T from 1 to 40 and P from 1 to 72.
std::string of(const std::string& name, const std::string& inputs, const std::string& operators) {
  return fmt::format(
      R"({{"zellige_graph": 1, "name": "{}", "sizes": {{"T": {{"max": 40}}, "P": {{"max": 72}}}}, "inputs": [{}],
      "operators": [{}], "outputs": ["y"]}})",
      name, inputs, operators);
}

const std::string x = R"({"name": "x", "dtype": "f16", "shape": ["T", 64]})",
                  past = R"({"name": "past", "dtype": "f16", "shape": ["P", 64]})";

struct Case {
  std::string text;
  const char* target;
};

std::vector<Case> cases() {
  const std::string both = R"({"op": "concat", "inputs": ["past", "x"], "outputs": ["all"], "dim": 0})";
  return {
      {system::read_whole(ZELLIGE_SOURCE_DIR "/examples/sizes/growing_attention.json"), "sm_80"},
      {of("joined", past + "," + x, R"({"op": "concat", "inputs": ["past", "x"], "outputs": ["y"], "dim": 0})"),
       "sm_90a"},
      {of("gated", past + "," + x, both + R"(, {"op": "silu", "inputs": ["all"], "outputs": ["y"]})"), "sm_80"},
      {of("rows", past + "," + x, both + R"(, {"op": "softmax", "inputs": ["all"], "outputs": ["y"], "dim": 1})"),
       "sm_90a"},
      {of("total", past + "," + x, both + R"(, {"op": "sum", "inputs": ["all"], "outputs": ["y"], "dim": 0})"),
       "sm_80"},
      {of("three", past + "," + x + R"(, {"name": "z", "dtype": "f16", "shape": [9, 64]})",
          R"({"op": "concat", "inputs": ["past", "z", "x"], "outputs": ["y"], "dim": 0})"),
       "sm_80"},
      {of("columns",
          R"({"name": "past", "dtype": "f16", "shape": [8, "P"]}, {"name": "x", "dtype": "f16", "shape": [8, "T"]})",
          R"({"op": "concat", "inputs": ["past", "x"], "outputs": ["y"], "dim": 1})"),
       "sm_90a"},
      {of("last", x + "," + past + R"(, {"name": "w", "dtype": "f16", "shape": [64, 32]})",
          R"({"op": "slice", "inputs": ["x"], "outputs": ["row"], "dim": 0, "start": "T - 1", "end": "T"},
             {"op": "matmul", "inputs": ["row", "w"], "outputs": ["y"]})"),
       "sm_80"},
      {of("turned", x + "," + past + R"(, {"name": "table", "dtype": "f16", "shape": [112, 64]})",
          R"({"op": "slice", "inputs": ["table"], "outputs": ["rows"], "dim": 0, "start": "P", "end": "P + T"},
             {"op": "mul", "inputs": ["x", "rows"], "outputs": ["y"]})"),
       "sm_80"},
      {of("masked", R"({"name": "s", "dtype": "f16", "shape": ["T", 80]})" + std::string(",") + past,
          R"({"op": "mask", "inputs": ["s"], "outputs": ["kept"], "length": "P"},
             {"op": "softmax", "inputs": ["kept"], "outputs": ["y"], "dim": 1})"),
       "sm_80"},
      {of("doubled", R"({"name": "q", "dtype": "f16", "shape": [4, "T", 64]},
          {"name": "k", "dtype": "f16", "shape": [4, "2 * P", 64]}, {"name": "v", "dtype": "f16", "shape": [4, "2 * P", 64]})",
          R"({"op": "permute", "inputs": ["k"], "outputs": ["transposed"], "dims": [0, 2, 1]},
             {"op": "matmul", "inputs": ["q", "transposed"], "outputs": ["scores"]},
             {"op": "mask", "inputs": ["scores"], "outputs": ["kept"], "length": "P + 1"},
             {"op": "softmax", "inputs": ["kept"], "outputs": ["weights"], "dim": 2},
             {"op": "matmul", "inputs": ["weights", "v"], "outputs": ["y"]})"),
       "sm_90a"},
      {of("window", R"({"name": "all", "dtype": "f16", "shape": ["P + T", 64]})" + std::string(",") + x,
          R"({"op": "slice", "inputs": ["all"], "outputs": ["rows"], "dim": 0, "start": "P", "end": "P + T"},
             {"op": "add", "inputs": ["x", "rows"], "outputs": ["y"]})"),
       "sm_90a"},
  };
}

TEST(SizeParts, OneProgramIsRightAtAllSizes) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(6001);
  const int count = std::getenv("ZELLIGE_ALL") ? 40 : 8;
  for (const Case& c : cases()) {
    const graph::KernelGraph g = graph_of(c.text);
    SCOPED_TRACE(fmt::format("{} on {}", g.name, c.target));
    emit::EmittedProgram p;
    const auto error = refused([&] { p = compile(g, target::find(c.target), {.fuse = true, .variants = 1}).program; });
    if (error) {
      ADD_FAILURE() << error->what();
      continue;
    }
    ASSERT_EQ(p.manifest.sizes.size(), 2u) << g.name;
    const std::string text = ir::print(p);
    EXPECT_EQ(ir::print(ir::compile(text, "printed.ir").program), text);
    for (const Values& values : values_of(p.manifest.sizes, count, random)) {
      SCOPED_TRACE(fmt::format("{} on {} at {}", g.name, c.target, fmt::join(values, ", ")));
      expect_right(g, p, values, cache);
    }
  }
}

}  // namespace
}  // namespace zellige::run
