// Graphs with sizes as commands take them (run/sized.hpp): what a plan for all values needs as a constant is refused.
#include "run/sized.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "../random/rng.hpp"
#include "graph/builder.hpp"
#include "run/compile.hpp"

namespace zellige::run {
namespace {

using graph::Builder, graph::SymbolicExtent, graph::TensorHandle;
using Body = std::function<TensorHandle(Builder&, SymbolicExtent, TensorHandle)>;

template <class Work>
std::string message(const Work& work) {
  const auto error = refused(work);
  return error ? error->what() : "no error";
}

/// A graph of x(T, 128) with T from 5 to 64, a multiple of 4.
graph::KernelGraph sized(const Body& body) {
  Builder b("g");
  const SymbolicExtent T = b.size({.name = "T", .min = 5, .max = 67, .multiple = 4});
  b.output(body(b, T, b.input("x", {T, 128})), "y");
  return b.build();
}

/// Two inputs of drawn extents of T and P, and the shapes that they have at drawn values: those of all inputs are what they were drawn as, or
/// a size is in no extent alone.
TEST(ValuesOfShapes, AreThoseThatGiveTheShapes) {
  random_graphs::Rng rng(9);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    Builder b("g");
    const SymbolicExtent T = b.size({.name = "T", .max = 30, .multiple = 2}), P = b.size({.name = "P", .max = 9});
    const std::vector<SymbolicExtent> all{T, P, T + P, 2 * T + P, T * P + 1, 3 * P, T + 2, 8};
    const std::vector<std::int64_t> values{2 * rng.between(1, 15), rng.between(1, 9)};
    const graph::SizeValues named{{"T", values[0]}, {"P", values[1]}};
    std::vector<std::optional<graph::Shape>> shapes;
    std::string extents;
    for (const char* name : {"x", "z"}) {
      const graph::SymbolicShape shape{rng.pick(all), rng.pick(all)};
      b.output(exp(b.input(name, shape)));
      shapes.push_back(graph::Shape{evaluate(shape[0], named), evaluate(shape[1], named)});
      extents += graph::to_string(shape);
    }
    const graph::KernelGraph g = b.build();
    std::vector<std::int64_t> result;
    const std::string why = message([&] { result = values_of_shapes(g, shapes); });
    if (why == "no error") {
      EXPECT_EQ(result, values) << extents;
      ++found;
    } else {
      EXPECT_TRUE(why.starts_with("graph g: no tensor's shape has ")) << extents << ": " << why;
    }
    for (auto& shape : shapes)
      for (std::int64_t& extent : *shape) {  // any other extent contradicts the others, or gives other values
        ++extent;
        const auto refusal = refused([&] { EXPECT_NE(values_of_shapes(g, shapes), values) << extents; });
        --extent;
      }
  }
  EXPECT_GT(found, 150);
}

TEST(ValuesOfShapes, ThatContradictEachOtherAreRefused) {
  Builder b("g");
  const SymbolicExtent T = b.size({.name = "T", .max = 40, .multiple = 2}), P = b.size({.name = "P", .max = 9});
  const TensorHandle x = b.input("x", {T, 8}), z = b.input("z", {2 * T + P, 8}), u = b.input("u", {T, 1});
  b.output(concat(x + u, z, 0), "y");
  const graph::KernelGraph g = b.build();
  using Shapes = std::vector<std::optional<graph::Shape>>;
  const auto of = [&](const Shapes& shapes) { return message([&] { values_of_shapes(g, shapes); }); };
  EXPECT_EQ(values_of_shapes(g, {{{4, 8}}, {{11, 8}}, {{4, 1}}}), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(values_of_shapes(g, {std::nullopt, {{11, 8}}, {{4, 1}}}), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(of({{{4, 8}}, {{11, 8}}, {{6, 1}}}),
            "graph g: T is 4, dimension 0 of input x, and 6, dimension 0 of input u");
  EXPECT_EQ(of({{{4, 8}}, {{20, 8}}, {{4, 1}}}), "graph g: expected P from 1 to 9, found 12, dimension 0 of input z");
  EXPECT_EQ(of({{{42, 8}}, {{20, 8}}, {{42, 1}}}),
            "graph g: expected T from 2 to 40, found 42, dimension 0 of input x");
  EXPECT_EQ(of({{{3, 8}}, {{9, 8}}, {{3, 1}}}),
            "graph g: expected T to be a multiple of 2, found 3, dimension 0 of input x");
  EXPECT_EQ(of({{{4, 7}}, {{11, 8}}, {{4, 1}}}), "graph g, input x: expected 8 elements along dimension 1, found 7");
  EXPECT_EQ(of({{{4, 8, 1}}, {{11, 8}}, {{4, 1}}}), "graph g, input x: expected 2 dimensions, found 3");
  EXPECT_EQ(of({{{4, 8}}}), "graph g: expected the shapes of 3 inputs, found 1");
  EXPECT_EQ(of({{{4, 8}}, std::nullopt, {{4, 1}}}), "graph g: no tensor's shape has P alone");
  Builder c("g");
  const SymbolicExtent S = c.size({.name = "S", .max = 40});
  const TensorHandle first = c.input("x", {S, 8});
  c.output(concat(first, c.input("z", {S * 2, 8}), 0), "y");
  EXPECT_EQ(message([&] {
              values_of_shapes(c.build(), {{{3, 8}}, {{5, 8}}});
            }),
            "graph g, input z: expected 2*S = 6 elements along dimension 0, found 5; S is 3, dimension 0 of input x");
  Builder d("g");
  d.output(exp(d.input("x", {d.size({.name = "R", .max = 40}) * 2, 8})), "y");
  EXPECT_EQ(message([&] {
              values_of_shapes(d.build(), {{{5, 8}}});
            }),
            "graph g, input x: expected 2*R elements along dimension 0, found 5");
}

TEST(SizedPlan, HasTheInputsDimensions) {
  const tile::SizeList list = plan_sizes(sized([](Builder& b, SymbolicExtent T, TensorHandle x) {
    return x + b.input("z", {1, T, 128});
  }));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].name, "T");
  EXPECT_EQ(list[0].low, 8);
  EXPECT_EQ(list[0].high, 64);
  EXPECT_EQ(list[0].multiple, 4);
  EXPECT_EQ(list[0].of, (std::vector<std::pair<int, int>>{{0, 0}, {1, 1}}));
  EXPECT_EQ(moved(list, {0, 1}, {7, 3})[0].of, (std::vector<std::pair<int, int>>{{7, 0}, {3, 1}}));
}

TEST(SizedPlan, OneValueIsNoSize) {
  const graph::KernelGraph g = narrowed(sized([](Builder&, SymbolicExtent, TensorHandle x) { return exp(x); }),
                                        {{.name = "T", .min = 8, .max = 8, .multiple = 4}});
  EXPECT_TRUE(plan_sizes(g).empty());
  EXPECT_EQ(compile(g, target::find("sm_80"), {}).program.manifest.tensors[0].shape, (graph::Shape{8, 128}));
}

TEST(SizedPlan, WhatKernelsNeedAsAConstantIsRefused) {
  using H = TensorHandle;
  using E = SymbolicExtent;
  const auto of = [](const Body& body) { return message([&] { plan_sizes(sized(body)); }); };
  EXPECT_EQ(of([](Builder&, E, H x) { return softmax(x, 1); }), "no error");
  EXPECT_EQ(of([](Builder& b, E T, H x) { return concat(x, b.input("z", {T * 2, 128}), 0); }), "no error");
  EXPECT_EQ(of([](Builder&, E, H x) { return mean(x, 0, true); }), "no error");
  EXPECT_EQ(of([](Builder&, E T, H x) { return slice(x, 0, 1, T - 2); }), "no error");
  EXPECT_EQ(of([](Builder&, E T, H x) { return sized_mask(x, {.length = T}); }), "no error");
  EXPECT_EQ(of([](Builder&, E T, H x) { return sized_mask(x, {.tril = 128 - T}); }), "no error");
  EXPECT_EQ(of([](Builder&, E T, H x) { return sized_mask(x, {.tril = T}); }),
            "graph g: the tril of operator 0 (mask) is T, and kernels need it as a constant");
  EXPECT_EQ(of([](Builder& b, E T, H x) {
              return x + b.input("z", {T, 128}, graph::DType::f16, {1, T});
            }),
            "graph g: the stride of dimension 1 of z is T, and kernels need it as a constant");
  EXPECT_EQ(of([](Builder&, E, H x) { return sum(square(x - sum(x, 0, true) / 8.0), 0, true); }),
            "graph g: T is a dimension of t4, and operator 4 (sum) needs it as a constant: it reduces what is relative "
            "to a sum along "
            "it");
  EXPECT_EQ(of([](Builder&, E, H x) { return sum(square(x - sum(x, 1, true) / 8.0), 1, true); }), "no error");
  EXPECT_EQ(of([](Builder&, E, H x) { return x - sum(x, 0, true); }), "no error");
  EXPECT_EQ(message([] {
              Builder b("g");
              b.size({.name = "S", .max = 64});
              b.output(exp(b.input("x", {8, 128})), "y");
              plan_sizes(b.build());
            }),
            "graph g: expected size S to be a dimension of an input, found none");
}

/// Returns the message of planning a graph for all values of its sizes, up to the proof; "planned" if there is none.
std::string planned_message(const graph::KernelGraph& g) {
  std::string text = "planned";
  const auto error = refused([&] {
    kernel::Rejections rejected;
    PassState s{.graph = g, .target = &target::find("sm_80"), .options = {.fuse = true, .rejected = &rejected}};
    s = run_passes(passes().first(8), std::move(s));
    if (s.plan.program.sizes.empty()) text = "planned without sizes";
  });
  return error ? error->what() : text;
}

TEST(SizedPlan, TheWholeRoadKeepsTheSizes) {
  using H = TensorHandle;
  using E = SymbolicExtent;
  const auto of = [](const Body& body) { return planned_message(sized(body)); };
  EXPECT_EQ(of([](Builder& b, E, H x) { return silu(matmul(x, b.input("w", {128, 256}))); }), "planned");
  EXPECT_EQ(of([](Builder&, E, H x) { return rms_norm(x, 1e-5); }), "planned");
  EXPECT_EQ(of([](Builder&, E, H x) { return mean(x, 0, true); }), "planned");
  EXPECT_EQ(of([](Builder&, E T, H x) {
              return matmul(softmax(sized_mask(matmul(x, permute(x, {1, 0})), {.tril = T - T}), 1), x);
            }),
            "planned");
}

TEST(SizedPlan, SizesMayOccurInSumsAlone) {
  Builder b("g");
  const SymbolicExtent T = b.size({.name = "T", .max = 30}), P = b.size({.name = "P", .min = 0, .max = 50});
  const TensorHandle q = b.input("q", {2, T, 32}), keys = b.input("keys", {2, P + T, 32});
  b.output(matmul(softmax(sized_mask(matmul(q, permute(keys, {0, 2, 1})), {.tril = P}), 2), keys), "y");
  const graph::KernelGraph g = b.build();
  const tile::SizeList list = plan_sizes(g);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_TRUE(list[1].of.empty());
  EXPECT_EQ(list[2].of, (std::vector<std::pair<int, int>>{{1, 1}}));
  EXPECT_EQ(planned_message(g), "planned");
}

TEST(SizedPlan, AConstantThatLooksLikeASizeIsNoSize) {
  // The divisor is 64 for all values, which is also the greatest value of T.
  const std::string found =
      planned_message(sized([](Builder&, SymbolicExtent, TensorHandle x) { return sum(x, 0, true) / 64.0; }));
  EXPECT_TRUE(found.starts_with(
      "graph g: what its kernels compute at T = 8 is not what the graph does, so they need a size as a "
      "constant: "))
      << found;
}

}  // namespace
}  // namespace zellige::run
