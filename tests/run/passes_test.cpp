// The list of passes, and what each of them prints.
#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "ir/ir.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

graph::KernelGraph layer() {
  graph::Builder b("layer");
  const graph::TensorHandle x = b.input("x", {64, 256}), w = b.input("w", {256, 128});
  b.output(softmax(matmul(relu(x), w), 1), "y");
  return b.build();
}

TEST(Passes, PrintEachState) {
  std::map<std::string, std::string> printed;
  std::vector<std::string> order;
  CompileOptions options{.constants = {"w"}, .fuse = true};
  options.after = [&](const Pass& pass, const PassState& state) {
    order.emplace_back(pass.name);
    printed[order.back()] = pass.print(state);
  };
  const Compiled made = compile(layer(), target::find("sm_90a"), options);
  EXPECT_EQ(order, (std::vector<std::string>{"constants", "fuse", "tune", "tile", "lower", "select", "schedule",
                                             "prove", "emit"}));
  const auto has = [&](const char* pass, const char* text) {
    EXPECT_NE(printed[pass].find(text), std::string::npos) << pass << ":\n" << printed[pass];
  };
  has("constants", "\"op\":\"softmax\"");
  has("constants", "\"constant\":true");
  has("constants", "x.1 = 256 of x, w");
  has("fuse", " = relu");
  has("fuse", "\"op\":\"custom\"");
  has("fuse", "x.1 = 256 of x, w");
  has("fuse", "operator 0: x divides x.0");
  has("tune", "no tilings were to be measured");
  has("tile", "operator 0: grid ");
  has("lower", "= matmul %");
  has("lower", " extents (\"x.1\",\"w.1\")");
  has("select", "warps (");
  has("schedule", "agent ");
  has("schedule", " # x.1\n");
  has("prove", "_k0: proved, ");
  EXPECT_EQ(printed["emit"], made.program.source);
  EXPECT_EQ(printed["schedule"], ir::print(made.program.plan, made.program.extents));
}

TEST(Passes, AreFoundByName) {
  EXPECT_EQ(pass_named("lower").header, "lower/lower.hpp");
  try {
    pass_named("lowr");
    FAIL() << "found";
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "expected the name of a pass (constants, fuse, tune, tile, lower, select, schedule, prove, emit), found lowr");
  }
}

}  // namespace
}  // namespace zellige::run
