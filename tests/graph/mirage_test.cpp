#include <gtest/gtest.h>

#include "../loaded.hpp"
#include "json/json.hpp"
#include "mugraphs.hpp"

namespace zellige::graph {
namespace {

/// A muGraph of one block graph around one operator on a (8, 128) tile, as Mirage would write it.
std::string candidate(const std::string& op_type, const std::string& result, const std::string& more = "",
                      bool after = false) {
  const auto tensor = [](int guid, const std::string& dim, const std::string& extra) {
    return fmt::format(R"({{"guid":{},"data_type":921,"num_dims":2,"dim":[{},0,0]{}}})", guid, dim, extra);
  };
  const std::string x = tensor(1, "8,128", ""), y = tensor(2, result, ""),
                    tile = tensor(11, "8,128", R"(,"after_accum":false)");
  const std::string made = tensor(12, result, after ? R"(,"after_accum":true)" : R"(,"after_accum":false)");
  const std::string map = R"({"x":-1,"y":-1,"z":-1})";
  return fmt::format(
      R"([{{"op_type":"kn_input_op","input_strides":[128,1],"input_tensors":[],"output_tensors":[{0}]}},
{{"op_type":"kn_customized_op","input_tensors":[{0}],"output_tensors":[{1}],"bgraph":{{
"grid_dim":{{"x":1,"y":1,"z":1}},"block_dim":{{"x":128,"y":1,"z":1}},"forloop_range":1,"reduction_dimx":32,"operators":[
{{"op_type":"tb_input_op","input_map":{5},"forloop_dim":-1,"dtensor":{0},"input_tensors":[],"output_tensors":[{2}]}},
{{"op_type":"{6}","input_tensors":[{2}],"output_tensors":[{3}{4}]}},
{{"op_type":"tb_output_op","output_map":{5},"dtensor":{1},"input_tensors":[{3}],"output_tensors":[]}}]}}}},
{{"op_type":"kn_output_op","output_strides":[],"input_tensors":[{1}],"output_tensors":[]}}])",
      x, y, tile, made, more, map, op_type);
}

json::Loaded import(const std::string& text) { return json::load_text(text, "json", "g").at(0); }

struct Case {
  const char *op_type, *result;
  OpKind kind;
  int dim;
  std::int64_t to;
  bool after;
};

class Imports : public testing::TestWithParam<Case> {};

TEST_P(Imports, OperatorAndAttributes) {
  const Case& c = GetParam();
  const json::Loaded l = import(candidate(c.op_type, c.result, "", c.after));
  ASSERT_EQ(l.error, "");
  const BlockOp& op = l.graph.ops.at(0).block->ops.at(1);
  EXPECT_EQ(name(op.kind), name(c.kind));
  if (c.dim >= 0) EXPECT_EQ(op.attributes.dim, c.dim);
  EXPECT_EQ(op.attributes.to, c.to);
}

INSTANTIATE_TEST_SUITE_P(Mirage, Imports,
                         testing::Values(Case{"tb_exp_op", "8,128", OpKind::exp, -1, 1, false},
                                         Case{"tb_rms_norm_op", "8,128", OpKind::rms_norm, -1, 1, false},
                                         Case{"tb_reduction_0_op", "1,128", OpKind::reduction, 0, 1, false},
                                         Case{"tb_reduction_1_op", "8,1", OpKind::reduction, 1, 1, false},
                                         Case{"tb_reduction_1_to_dimx_op", "8,32", OpKind::reduction, 1, 32, false},
                                         Case{"tb_accum_nored_op", "8,128", OpKind::accum, -1, 1, true},
                                         Case{"tb_forloop_accum_no_red_op", "8,128", OpKind::accum, -1, 1, true},
                                         Case{"tb_accum_red_ld_sum_op", "8,1", OpKind::accum_red_sum, -1, 1, true},
                                         Case{"tb_accum_red_ld_mean_op", "8,1", OpKind::accum_red_mean, -1, 1, true},
                                         Case{"tb_accum_red_ld_rms_op", "8,1", OpKind::accum_red_rms, -1, 1, true},
                                         Case{"tb_accum_redtox_ld_sum_op", "8,32", OpKind::accum_redtox_sum, -1, 32,
                                              true},
                                         Case{"tb_accum_max_op", "8,128", OpKind::accum_max, -1, 1, true}),
                         [](const auto& info) { return std::string(info.param.op_type); });

TEST(Mirage, TwoResults) {
  const std::string fell = R"(,{"guid":13,"data_type":921,"num_dims":2,"dim":[8,1,0,0],"after_accum":false})";
  const json::Loaded l = import(candidate("tb_reduction_1_max_op", "8,1", fell));
  ASSERT_EQ(l.error, "");
  EXPECT_EQ(l.graph.ops[0].block->ops[1].outputs.size(), 2u);
}

TEST(Mirage, SplitTakesItsSizesFromTheFile) {
  const std::string rest = R"(,{"guid":13,"data_type":921,"num_dims":2,"dim":[8,28,0,0],"after_accum":false})";
  for (const char* op_type : {"tb_split_1_op", "tb_chunk_1_op"}) {
    const json::Loaded l = import(candidate(op_type, "8,100", rest));
    ASSERT_EQ(l.error, "");
    EXPECT_EQ(l.graph.ops[0].block->ops[1].attributes.sizes, (std::vector<std::int64_t>{100, 28}));
  }
}

TEST(Mirage, RefusesConstantsThatTheFileLost) {
  for (const char* stem : {"mul_scalar", "clamp"}) {
    const json::Loaded l = import(candidate(fmt::format("tb_{}_op", stem), "8,128"));
    EXPECT_EQ(l.error,
              fmt::format("graph g[0], operator 1 (kn_customized_op), block operator 1 (tb_{0}_op): expected an "
                          "operator that the file gives whole, found {0}, whose constant{1} Mirage's JSON does "
                          "not keep",
                          stem, stem[0] == 'c' ? "s" : ""));
  }
}

TEST(Mirage, RefusesWhatInferenceContradicts) {
  EXPECT_EQ(import(candidate("tb_reduction_1_op", "8,2")).error,
            "graph g[0], operator 0 (custom), block operator 1 (reduction): expected the result to have the "
            "shape (8, 1), "
            "found (8, 2) in the graph");
  EXPECT_EQ(import(candidate("tb_exp_op", "8,128", "", true)).error,
            "graph g[0], operator 0 (custom): expected block tensor s1 to live inside the loop, found after");
}

TEST(Mirage, AnOutputMayLeaveItsLayoutOpen) {
  const json::Loaded l = import(candidate("tb_exp_op", "8,128"));
  ASSERT_EQ(l.error, "");
  EXPECT_TRUE(l.graph.tensors[l.graph.outputs[0]].strides.empty());
}

TEST(Mirage, NamesThatPeopleCanRead) {
  const KernelGraph g = json::load(std::string(ZELLIGE_SOURCE_DIR) + "/examples/lora.json").at(0);
  EXPECT_EQ(g.name, "lora[0]");
  ASSERT_EQ(g.tensors.size(), 5u);
  EXPECT_EQ(g.tensors[3].name, "X3");
  EXPECT_EQ(g.tensors[4].name, "Y0");
  EXPECT_EQ(g.ops[0].block->tensors[1].name, "X1_tile");
  EXPECT_EQ(g.ops[0].inputs, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(json::load(std::string(ZELLIGE_SOURCE_DIR) + "/examples/rmsnorm.json").at(0).name, "rmsnorm[0]");
}

// One candidate that cannot be had does not cost the others.
TEST(Mirage, EachCandidateStandsAlone) {
  const std::string text = "[" + candidate("tb_exp_op", "8,128") + "," + candidate("tb_clamp_op", "8,128") + "," +
                           candidate("tb_log_op", "8,128") + "]";
  const std::vector<json::Loaded> graphs = json::load_text(text, "json", "g");
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(graphs[0].error, "");
  EXPECT_NE(graphs[1].error, "");
  EXPECT_EQ(graphs[2].error, "");
  EXPECT_EQ(graphs[2].name, "g[2]");
}

}  // namespace
}  // namespace zellige::graph
