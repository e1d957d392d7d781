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
  tile::TileProgram p;
  int scores;
  Body() { scores = p.add({.kind = tile::NodeKind::matmul, .in = {}, .shape = {16, 32}}); }
  int map(graph::OpKind op, int x, double scalar = 1) {
    tile::Node n{.kind = tile::NodeKind::map, .op = op, .in = {x}, .shape = p.nodes[static_cast<std::size_t>(x)].shape};
    n.scalar = scalar;
    return p.add(n);
  }
  int cast(int x, graph::DType to, bool saturate = false) {
    const int i = map(graph::OpKind::cast, x);
    p.nodes.back().to_dtype = to, p.nodes.back().saturate = saturate;
    return i;
  }
  int largest(int x, graph::OpKind op = graph::OpKind::reduction_max) {
    return p.add({.kind = tile::NodeKind::reduce, .op = op, .in = {x}, .shape = {16, 1}, .dim = 1});
  }
  int round(int x, graph::DType to) {
    return p.add({.kind = tile::NodeKind::round, .in = {x}, .shape = {16, 32}, .dtype = to});
  }
};

/// "max(mul_scalar(matmul))": the value of the last node, spelled out.
std::string describe(const tile::TileProgram& p, int i) {
  const tile::Node& n = p.nodes[static_cast<std::size_t>(i)];
  std::string in;
  for (int x : n.in) in += (in.empty() ? "" : ", ") + describe(p, x);
  const std::string what = n.kind == tile::NodeKind::map      ? std::string(graph::name(n.op))
                           : n.kind == tile::NodeKind::reduce ? "reduce"
                                                              : std::string(tile::name(n.kind));
  return what + (in.empty() ? "" : "(" + in + ")");
}
std::string simplified(Body b) {
  rules::rewrite(tile::program_rules, rules::Level::tile, b.p, target::find("sm_90a"));
  return describe(b.p, static_cast<int>(b.p.nodes.size()) - 1);
}

TEST(Simplify, LeavesOutACastThatRoundsAsItsReaderDoes) {
  const auto rounded = [](graph::DType cast, graph::DType to, bool saturate = false) {
    Body b;
    b.round(b.cast(b.scores, cast, saturate), to);
    return simplified(b);
  };
  EXPECT_EQ(rounded(graph::DType::bf16, graph::DType::bf16), "round(matmul)");
  EXPECT_EQ(rounded(graph::DType::f16, graph::DType::bf16), "round(cast(matmul))");
  EXPECT_EQ(rounded(graph::DType::e4m3, graph::DType::e4m3, true), "round(cast(matmul))");
  EXPECT_EQ(rounded(graph::DType::int32, graph::DType::int32), "round(cast(matmul))");
}

TEST(Simplify, ScalesARowsMaximumOnce) {
  const auto largest = [](double scale, graph::OpKind of = graph::OpKind::reduction_max) {
    Body b;
    b.largest(b.map(graph::OpKind::mul_scalar, b.scores, scale), of);
    return simplified(b);
  };
  EXPECT_EQ(largest(0.125), "mul_scalar(reduce(matmul))");
  EXPECT_EQ(largest(-0.125), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(0), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(std::numeric_limits<double>::infinity()), "reduce(mul_scalar(matmul))");
  EXPECT_EQ(largest(0.125, graph::OpKind::reduction), "reduce(mul_scalar(matmul))");
}

TEST(Simplify, MasksBeforeItScales) {
  const auto masked = [](double instead) {
    Body b;
    b.largest(b.map(graph::OpKind::mask, b.map(graph::OpKind::mul_scalar, b.scores, 0.125), instead));
    return simplified(b);
  };
  EXPECT_EQ(masked(nothing), "mul_scalar(reduce(mask(matmul)))");
  EXPECT_EQ(masked(-1e30), "reduce(mask(mul_scalar(matmul)))");
}

TEST(Simplify, GivesEveryReaderWhatItRead) {
  Body b;
  const int scaled = b.map(graph::OpKind::mul_scalar, b.scores, 0.5), maximum = b.largest(scaled);
  b.p.add({.kind = tile::NodeKind::map, .op = graph::OpKind::sub, .in = {scaled, maximum}, .shape = {16, 32}});
  EXPECT_EQ(simplified(b), "sub(mul_scalar(matmul), mul_scalar(reduce(matmul)))");
}

}  // namespace
}  // namespace zellige::plan
