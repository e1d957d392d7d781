// Nests whose stores are delayed: the loads of several iterations are in flight together.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "plan/graphs.hpp"
#include "run/compile.hpp"

namespace zellige::emit {
namespace {

/// Returns the lines of the nest that computes the register array "left..." before it is stored; empty if there is none.
std::vector<std::string> before_stores(const std::string& source) {
  std::vector<std::string> found;
  std::istringstream lines(source.substr(std::min(source.find(" left"), source.size())));
  for (std::string line; std::getline(lines, line) && line.find("write<") == std::string::npos;) found.push_back(line);
  return found;
}

std::size_t lines_with(const std::vector<std::string>& lines, const std::string& what) {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [&](const std::string& line) { return line.find(what) != std::string::npos; }));
}

/// A norm of rows of `length` elements, fused and emitted. The number of rows is prime.
std::string norm_of(graph::DType dtype, std::int64_t length) {
  graph::Builder b("norm");
  const graph::Shape row{length};
  const auto x = b.input("X", {4001, length}, dtype), w = b.input("W", row, dtype), c = b.input("C", row, dtype);
  b.output(layer_norm(x, w, c, 1e-5), "Y");
  const target::Target& target = target::find("sm_90a");
  return run::transpile(fuse::optimize(b.build(), target).graph, target).source;
}

TEST(DelayedStores, LoadANormsWeightsOutsideTheBoundsChecksOfItsRows) {
  for (const graph::DType dtype : {graph::DType::f16, graph::DType::f32}) {
    const std::string source = norm_of(dtype, 489);
    const std::vector<std::string> nest = before_stores(source);
    EXPECT_GE(lines_with(nest, "read<"), 2u) << source;  // both weights
    // The first of two nests is without a check; the second one stores within the bounds.
    EXPECT_EQ(lines_with(nest, "if (bx"), 1u) << source;
  }
}

TEST(DelayedStores, RowsBeyondTheLastAreReadAsTheLastOne) {
  // The loads of a row differ by constants: a condition on each of them would keep its address separate.
  const std::string source = norm_of(graph::DType::f32, 489);
  EXPECT_NE(source.find("at_most(bx * "), std::string::npos) << source;
  EXPECT_EQ(source.find("? read<"), std::string::npos) << source;
}

TEST(DelayedStores, OfLongRowsAreBatched) {
  for (const graph::DType dtype : {graph::DType::f16, graph::DType::f32}) {
    const std::string source = norm_of(dtype, 23770);  // 47 or 24 iterations by 512 or 1024 threads
    const std::vector<std::string> nest = before_stores(source);
    EXPECT_EQ(lines_with(nest, "[8];"), 1u) << source;  // eight iterations at a time
    EXPECT_GE(lines_with(nest, "read<"), 3u) << source;
    EXPECT_EQ(lines_with(nest, "if ("), 0u) << source;
  }
}

TEST(DelayedStores, OfASumThatItsNormKeepsInRegisters) {
  graph::Builder b("residual");
  const auto x = b.input("X", {4104, 166}, graph::DType::f32), y = b.input("Y", {4104, 166}, graph::DType::f32),
             w = b.input("W", {166}, graph::DType::f32), sum = x + y;
  b.output(sum, "S"), b.output(rms_norm(sum, w, 1e-5), "N");
  const target::Target& target = target::find("sm_90a");
  const std::string source = run::transpile(fuse::optimize(b.build(), target).graph, target).source;
  // The first nest loads both operands in all iterations, keeps their sums and stores them afterwards.
  const std::vector<std::string> nest = before_stores(source);
  EXPECT_EQ(lines_with(nest, "read<"), 2u) << source;
  EXPECT_EQ(lines_with(nest, "[i]"), 2u) << source;  // to the array of the norm, and to that of the store
}

}  // namespace
}  // namespace zellige::emit
