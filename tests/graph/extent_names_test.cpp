// Names of extents: of given graphs, and against the shapes that inference finds for other values of one extent.
#include "graph/extent_names.hpp"

#include <gtest/gtest.h>

#include <set>

#include "../random/rng.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::graph {
namespace {

TEST(ExtentNames, AreThoseOfTheFirstDimension) {
  Builder b("g");
  const TensorHandle x = b.input("x", {16, 64}), w = b.input("w", {64, 96}), bias = b.input("bias", {96});
  b.output(permute(relu(matmul(x, w) + bias), {1, 0}), "y");
  b.output(sum(reshape(x, {16, 8, 8}), 1, true), "z");
  const KernelGraph g = b.build();
  const ExtentNames names = name_extents(g);
  EXPECT_EQ(names.at("w"), (std::vector<std::string>{"x.1", "w.1"}));
  EXPECT_EQ(names.at("bias"), (std::vector<std::string>{"w.1"}));
  EXPECT_EQ(names.at("y"), (std::vector<std::string>{"w.1", "x.0"}));
  EXPECT_EQ(names.at("z")[0], "x.0");
  EXPECT_EQ(names.at("z")[1], "1");
  EXPECT_NE(to_string(names, g).find("x.1 = 64 of x, w\n"), std::string::npos) << to_string(names, g);
}

TEST(ExtentNames, OfSizesAreTheirExpressions) {
  Builder b("g");
  const SymbolicExtent rows = b.size({.name = "T", .max = 64}), earlier = b.size({.name = "P", .max = 64});
  const TensorHandle x = b.input("x", {rows, 32}), cache = b.input("cache", {earlier, 32});
  b.output(concat(cache, x, 0), "y");
  const ExtentNames names = name_extents(b.build());
  EXPECT_EQ(names.at("x"), (std::vector<std::string>{"T", "x.1"}));
  EXPECT_EQ(names.at("cache"), (std::vector<std::string>{"P", "x.1"}));
  EXPECT_EQ(names.at("y"), (std::vector<std::string>{"P + T", "x.1"}));
}

TEST(ExtentNames, ThatAreKnownAreKept) {
  Builder b("g");
  b.output(relu(b.input("x", {16, 64})), "y");
  const ExtentNames names = name_extents(b.build(), {{"y", {"a.0", "a.1"}}, {"gone", {"a.0"}}});
  EXPECT_EQ(names.at("x"), (std::vector<std::string>{"a.0", "a.1"}));
  EXPECT_EQ(names.at("gone"), (std::vector<std::string>{"a.0"}));
}

// What has one name has one extent, and no other one: if inputs' extents of a name become longer, all of that name do, and only these.
TEST(ExtentNames, ExtentsOfANameChangeTogether) {
  random_graphs::Rng rng(59);
  int changed = 0;
  for (int i = 0; i < 100; ++i) {
    Builder b("g");
    int inputs = 0;
    const auto input = [&](const Shape& shape) { return b.input(fmt::format("x{}", inputs++), shape); };
    TensorHandle x = input({rng.between(2, 4), rng.between(2, 4)});
    for (int step = 0; step < 8; ++step) {
      const Shape s = x.shape();
      const std::int64_t which = rng.below(5);
      if (which == 0) x = matmul(x, input({s[1], rng.between(2, 4)}));
      if (which == 1) x = x + input(rng.chance(50) ? s : Shape{1, s[1]});
      if (which == 2) x = permute(x, {1, 0});
      if (which == 3) x = x - sum(x, static_cast<int>(rng.below(2)), true);
      if (which == 4) x = softmax(rms_norm(x, input({s[1]}), 1e-5), 0);
    }
    b.output(concat(x, input({rng.between(2, 4), x.shape()[1]}), 0), "y");
    const KernelGraph g = b.build();
    const ExtentNames names = name_extents(g);
    std::set<std::string> of_inputs;
    for (const int t : g.inputs)
      for (const std::string& name : names.at(g.tensors[static_cast<std::size_t>(t)].name)) of_inputs.insert(name);
    of_inputs.erase("1");
    for (const std::string& name : of_inputs) {
      KernelGraph other = g;
      for (KernelTensor& t : other.tensors) t.strides.clear();
      std::set<int> given(g.inputs.begin(), g.inputs.end());
      for (int t = 0; t < std::ssize(g.tensors); ++t) {
        KernelTensor& tensor = other.tensors[static_cast<std::size_t>(t)];
        for (std::size_t d = 0; d < tensor.shape.size(); ++d)
          if (names.at(tensor.name)[d] == name) tensor.shape[d] += 5;
        if (!given.contains(t)) tensor.shape.clear();
      }
      other = infer(std::move(other));  // throws if an operator needs another extent to be the same
      for (std::size_t t = 0; t < g.tensors.size(); ++t)
        for (std::size_t d = 0; d < g.tensors[t].shape.size(); ++d) {
          const std::string& of = names.at(g.tensors[t].name)[d];
          const std::int64_t more = other.tensors[t].shape[d] - g.tensors[t].shape[d];
          if (of != "y.0")  // a sum of two
            EXPECT_EQ(more, of == name ? 5 : 0) << of << " where " << name << " changes";
          ++changed;
        }
    }
  }
  EXPECT_GT(changed, 1000);
}

}  // namespace
}  // namespace zellige::graph
