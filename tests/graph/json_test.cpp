#include "json/json.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "../loaded.hpp"
#include "graph/builder.hpp"
#include "graph/ops.hpp"
#include "mugraphs.hpp"

namespace zellige::graph {
namespace {

using json::Json;

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool same(const BlockGraph& a, const BlockGraph& b) {
  if (!(a.grid == b.grid && a.block == b.block && a.loop == b.loop)) return false;
  if (a.tensors.size() != b.tensors.size() || a.ops.size() != b.ops.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const BlockTensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype != y.dtype || x.shape != y.shape || x.after_loop != y.after_loop || x.name != y.name) return false;
  }
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const BlockOp &x = a.ops[i], &y = b.ops[i];
    if (x.kind != y.kind || x.inputs != y.inputs || x.outputs != y.outputs || x.map != y.map) return false;
    if (x.loop_dim != y.loop_dim || x.kernel_tensor != y.kernel_tensor) return false;
  }
  return true;
}

bool same(const KernelGraph& a, const KernelGraph& b) {
  if (a.name != b.name || a.inputs != b.inputs || a.outputs != b.outputs) return false;
  if (a.tensors.size() != b.tensors.size() || a.ops.size() != b.ops.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const KernelTensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype != y.dtype || x.shape != y.shape || x.strides != y.strides || x.name != y.name) return false;
  }
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const KernelOp &x = a.ops[i], &y = b.ops[i];
    if (x.kind != y.kind || x.inputs != y.inputs || x.outputs != y.outputs || !x.block != !y.block) return false;
    if (x.block ? !same(*x.block, *y.block) : !(x.attributes == y.attributes)) return false;
  }
  return true;
}

// Our examples are written in the very form that to_json writes.
TEST(Json, ExamplesAreTheirOwnText) {
  for (const char* file : {"attention", "mlp"}) {
    const std::string path = std::string(ZELLIGE_SOURCE_DIR) + "/examples/" + file + ".json";
    EXPECT_EQ(json::to_json(json::load(path).at(0)), read(path));
  }
}

TEST(Json, EveryMugraphIsReadAsItIsWritten) {
  int graphs = 0;
  const std::string path = test::mugraph_file("lora.json");
  if (path.empty()) GTEST_SKIP() << "the muGraphs are not here: set ZELLIGE_MUGRAPHS to the folder that has them";
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
    if (entry.path().extension() != ".json") continue;
    for (const KernelGraph& g : json::load(entry.path().string())) {
      const std::string text = json::to_json(g);
      const KernelGraph again = json::from_json(json::parse_json(text, "json"), "json");
      ASSERT_EQ(json::to_json(again), text) << g.name;
      // Attributes that an operator does not read are not kept: what the importer leaves in them is nobody's
      // meaning.
      ASSERT_TRUE(same(g, again)) << g.name;
      ++graphs;
    }
  }
  EXPECT_EQ(graphs, 314);
}

// Seeds of the fuzz target: who adds an operator adds it to them.
TEST(Json, FuzzersStartFromEveryOperator) {
  std::set<OpKind> kernel, block;
  for (const char* name : {"operators", "block_operators", "collectives"}) {
    const KernelGraph g = json::load(fmt::format("{}/tests/fuzz/seeds/{}.json", ZELLIGE_SOURCE_DIR, name)).at(0);
    EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), name), name)), json::to_json(g)) << name;
    for (const KernelOp& op : g.ops) {
      kernel.insert(op.kind);
      if (op.block)
        for (const BlockOp& inside : op.block->ops) block.insert(inside.kind);
    }
  }
  for (const OpKind kind : all_ops()) {
    EXPECT_EQ(kernel.contains(kind), info(kind).kernel) << info(kind).name << " of the kernel level";
    EXPECT_EQ(block.contains(kind), info(kind).block) << info(kind).name << " of the block level";
  }
}

TEST(Json, ScalarsRoundTripExactly) {
  for (double s : {0.1, 1e-7, 1.0 / 4096, -1.0 / 3, 1.1754943508222875e-38, 3.4028234663852886e38}) {
    KernelGraph g;
    g.name = "g";
    g.tensors = {{DType::f32, {4}, {1}, "X"}, {DType::f32, {4}, {}, "Y"}};
    KernelOp op;
    op.kind = OpKind::mul_scalar;
    op.inputs = {0};
    op.outputs = {1};
    op.attributes.scalar = s;
    g.ops = {op};
    g.inputs = {0};
    g.outputs = {1};
    EXPECT_EQ(json::from_json(json::parse_json(json::to_json(g), "json"), "json").ops[0].attributes.scalar, s);
  }
}

TEST(Json, ConstantInputsRoundTrip) {
  Builder b("layer");
  const TensorHandle X = b.input("X", {4, 8}), W = b.constant("W", {8, 16});
  b.output(matmul(X, W), "Y");
  const std::string text = json::to_json(b.build());
  EXPECT_EQ(text.find("\"constant\":true"), text.rfind("\"constant\"")) << "of W alone: " << text;
  const KernelGraph g = json::from_json(Json::parse(text), "layer");
  EXPECT_FALSE(g.tensors[g.inputs[0]].constant);
  EXPECT_TRUE(g.tensors[g.inputs[1]].constant);
  EXPECT_EQ(json::to_json(g), text);
}

TEST(Json, DefaultsMayBeOmitted) {
  const char* text = R"({"zellige_graph":1,"inputs":[{"name":"X","dtype":"f16","shape":[8,4]}],"operators":[
    {"op":"custom","inputs":["X"],"outputs":["Y"],"grid":[1,1,1],"block":[32,1,1],"body":[
      {"op":"input","from":"X","outputs":["x"]},
      {"op":"reduction","inputs":["x"],"outputs":["r"],"dim":1},
      {"op":"output","inputs":["r"],"to":"Y"}]}],"outputs":["Y"]})";
  const std::vector<json::Loaded> graphs = json::load_text(text, "json", "stem");
  ASSERT_EQ(graphs.at(0).error, "");
  const KernelGraph& g = graphs[0].graph;
  EXPECT_EQ(g.name, "stem");
  EXPECT_EQ(g.tensors[0].strides, (Strides{4, 1}));
  EXPECT_EQ(g.ops[0].block->loop, 1);
  EXPECT_EQ(to_string(g.tensors[1].shape), "(8, 1)");
}

TEST(Json, TilesMayPassTheEnd) {
  const char* text = R"({"zellige_graph":1,"inputs":[{"name":"X","dtype":"f16","shape":[77,4]}],"operators":[
    {"op":"custom","inputs":["X"],"outputs":["Y"],"grid":[2,1,1],"block":[32,1,1],"body":[
      {"op":"input","from":"X","map":{"x":0},"shape":[96,4],"outputs":["x"]},
      {"op":"exp","inputs":["x"],"outputs":["e"]},
      {"op":"output","inputs":["e"],"map":{"x":0},"to":"Y","shape":[77,4]}]}],"outputs":["Y"]})";
  const std::vector<json::Loaded> graphs = json::load_text(text, "json", "stem");
  ASSERT_EQ(graphs.at(0).error, "");
  const KernelGraph& g = graphs[0].graph;
  EXPECT_EQ(to_string(g.ops[0].block->tensors[0].shape), "(48, 4)");
  EXPECT_EQ(to_string(g.tensors[1].shape), "(77, 4)");
  EXPECT_EQ(json::to_json(json::from_json(Json::parse(json::to_json(g)), "again")), json::to_json(g));
}

TEST(Json, AListHoldsCandidates) {
  const std::string one = read(std::string(ZELLIGE_SOURCE_DIR) + "/examples/mlp.json");
  const std::vector<json::Loaded> graphs = json::load_text("[" + one + "," + one + ",{}]", "json", "stem");
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(graphs[1].name, "mlp");
  EXPECT_EQ(graphs[1].error, "");
  EXPECT_EQ(graphs[2].error, "graph stem[2]: expected a graph, found an object");
}

}  // namespace
}  // namespace zellige::graph
