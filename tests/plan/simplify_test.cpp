// Simplify: the operators that it removes or moves, and those that it keeps because the numbers
// would differ.
#include <gtest/gtest.h>

#include <limits>

#include "rules/table.hpp"
#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::plan {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

struct Body {
  TileProgram p;
  int scores;
  Body() { scores = p.add({.kind = NodeKind::matmul, .in = {}, .shape = {16, 32}}); }
  int map(OpKind op, int x, double scalar = 1) {
    Node n{.kind = NodeKind::map, .op = op, .in = {x}, .shape = p.nodes[static_cast<std::size_t>(x)].shape};
    n.scalar = scalar;
    return p.add(n);
  }
  int cast(int x, DType to, bool saturate = false) {
    const int i = map(OpKind::cast, x);
    p.nodes.back().to_dtype = to, p.nodes.back().saturate = saturate;
    return i;
  }
  int largest(int x, OpKind op = OpKind::reduction_max) {
    return p.add({.kind = NodeKind::reduce, .op = op, .in = {x}, .shape = {16, 1}, .dim = 1});
  }
  int round(int x, DType to) { return p.add({.kind = NodeKind::round, .in = {x}, .shape = {16, 32}, .dtype = to}); }
};

/// "max(mul_scalar(matmul))": the value of the last node, spelled out.
std::string describe(const TileProgram& p, int i) {
  const Node& n = p.nodes[static_cast<std::size_t>(i)];
  std::string in;
  for (int x : n.in) in += (in.empty() ? "" : ", ") + describe(p, x);
  const std::string what = n.kind == NodeKind::map      ? std::string(graph::name(n.op))
                           : n.kind == NodeKind::reduce ? "reduce"
                                                        : std::string(name(n.kind));
  return what + (in.empty() ? "" : "(" + in + ")");
}
std::string simplified(Body b) {
  rewrite(program_rules, Level::tile, b.p, target::find("sm_90a"));
  return describe(b.p, static_cast<int>(b.p.nodes.size()) - 1);
}

TEST(Simplify, LeavesOutACastThatRoundsAsItsReaderDoes) {
  const auto rounded = [](DType cast, DType to, bool saturate = false) {
    Body b;
    b.round(b.cast(b.scores, cast, saturate), to);
    return simplified(b);
  };
  EXPECT_EQ(rounded(DType::bf16, DType::bf16), "round(matmul)");
  EXPECT_EQ(rounded(DType::f16, DType::bf16), "round(cast(matmul))");
  EXPECT_EQ(rounded(DType::e4m3, DType::e4m3, true), "round(cast(matmul))");
  EXPECT_EQ(rounded(DType::int32, DType::int32), "round(cast(matmul))");
}

TEST(Simplify, ScalesARowsMaximumOnce) {
  const auto largest = [](double scale, OpKind of = OpKind::reduction_max) {
    Body b;
    b.largest(b.map(OpKind::mul_scalar, b.scores, scale), of);
    return simplified(b);
  };
  EXPECT_EQ(largest(0.125), "mul_scalar(reduce(matmul))");
  EXPECT_EQ(largest(-0.125), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(0), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(std::numeric_limits<double>::infinity()), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(0.125, OpKind::reduction), "reduce(mul_scalar(matmul))");
}

TEST(Simplify, MasksBeforeItScales) {
  const auto masked = [](double instead) {
    Body b;
    b.largest(b.map(OpKind::mask, b.map(OpKind::mul_scalar, b.scores, 0.125), instead));
    return simplified(b);
  };
  EXPECT_EQ(masked(nothing), "mul_scalar(reduce(mask(matmul)))");
  EXPECT_EQ(masked(-1e30), "reduce(mask(mul_scalar(matmul)))");
}

TEST(Simplify, GivesEveryReaderWhatItRead) {
  Body b;
  const int scaled = b.map(OpKind::mul_scalar, b.scores, 0.5), maximum = b.largest(scaled);
  b.p.add({.kind = NodeKind::map, .op = OpKind::sub, .in = {scaled, maximum}, .shape = {16, 32}});
  EXPECT_EQ(simplified(b), "sub(mul_scalar(matmul), mul_scalar(reduce(matmul)))");
}

}  // namespace
}  // namespace zellige::plan
