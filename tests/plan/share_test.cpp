// Values stored by share() are recomputed if memory is short, except operands of
// matmuls.
#include <gtest/gtest.h>

#include "tile/program.hpp"

namespace zellige::plan {
namespace {

TEST(Unshare, LeavesProductsTheirOperands) {
  tile::TileProgram p;
  const auto add = [&](tile::NodeKind kind, std::vector<int> in, graph::Shape shape) {
    tile::Node n;
    n.kind = kind, n.in = std::move(in), n.shape = std::move(shape);
    return p.add(n);
  };
  const int x = add(tile::NodeKind::load, {}, {64, 32}), y = add(tile::NodeKind::map, {x}, {64, 32}),
            large = add(tile::NodeKind::round, {y}, {64, 32}), small = add(tile::NodeKind::round, {y}, {32, 32});
  const int product = add(tile::NodeKind::matmul, {large, small}, {64, 32}),
            of_large = add(tile::NodeKind::map, {large}, {64, 32}),
            of_small = add(tile::NodeKind::map, {small}, {32, 32});
  const auto read = [&](int i) { return p.nodes[static_cast<std::size_t>(i)].in; };
  EXPECT_TRUE(tile::unshare(p));
  EXPECT_EQ(read(of_large), std::vector{y});
  EXPECT_EQ(read(of_small), std::vector{small});
  EXPECT_TRUE(tile::unshare(p));
  EXPECT_EQ(read(of_small), std::vector{y});
  EXPECT_FALSE(tile::unshare(p));
  EXPECT_EQ(read(product), (std::vector{large, small}));
}

}  // namespace
}  // namespace zellige::plan
