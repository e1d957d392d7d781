// Graphs over ranks: shapes of collectives, the graph of all ranks' tensors, segments between collectives.
#include "graph/collective.hpp"

#include <gtest/gtest.h>

#include "graph/infer.hpp"
#include "json/json.hpp"
#include "ranks.hpp"
#include "ranks/flat_collectives.hpp"
#include "ranks/over_ranks.hpp"
#include "ranks/segments.hpp"
#include "reference/reference.hpp"

namespace zellige::ranks {
namespace {

using namespace graph;
using reference::Array;

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

Array numbers(const Shape& shape, int salt) {
  Array a = reference::make_array(shape);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = static_cast<double>((i * 2654435761U + static_cast<unsigned>(salt) * 40503U) >> 9 & 7) - 3;
  return a;
}

/// Runs the ranks segment by segment: kernels by the reference, collectives by elements.
std::vector<Array> outputs_by_segments(const KernelGraph& g, const std::vector<Array>& inputs) {
  const auto ranks = static_cast<std::size_t>(g.ranks);
  std::vector<std::vector<Array>> at(ranks, std::vector<Array>(g.tensors.size()));
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      at[r][static_cast<std::size_t>(g.inputs[i])] = inputs.at(r * g.inputs.size() + i);
  for (const Segment& s : segments(g)) {
    if (!s.is_collective()) {
      validate(s.kernels);
      EXPECT_FALSE(has_collectives(s.kernels));
      for (std::vector<Array>& mine : at) {
        std::vector<Array> in;
        for (const int t : s.inputs) in.push_back(mine[static_cast<std::size_t>(t)]);
        const std::vector<Array> made = reference::run_reference(s.kernels, in);
        for (std::size_t o = 0; o < made.size(); ++o) mine[static_cast<std::size_t>(s.outputs[o])] = made[o];
      }
      continue;
    }
    const auto y = static_cast<std::size_t>(s.collective.outputs[0]);
    if (s.collective.kind == OpKind::rank) {
      for (std::size_t r = 0; r < ranks; ++r) at[r][y] = {{1}, {static_cast<double>(r)}};
      continue;
    }
    std::vector<Array> x;
    for (const std::vector<Array>& mine : at) x.push_back(mine[static_cast<std::size_t>(s.inputs[0])]);
    const std::vector<Array> made = test::collective(s.collective, x);
    for (std::size_t r = 0; r < ranks; ++r) at[r][y] = made[r];
  }
  std::vector<Array> all;
  for (const std::vector<Array>& mine : at)
    for (const int t : g.outputs) all.push_back(mine[static_cast<std::size_t>(t)]);
  return all;
}

// The graph of all ranks' tensors computes what ranks compute that exchange elements: over_ranks(g)(x) == ranks(g)(x).
TEST(Collective, OverRanksIsWhatRanksCompute) {
  test::Rng rng(62);
  std::map<OpKind, int> met;
  for (int i = 0; i < 120; ++i) {
    const int ranks = std::vector{1, 2, 3, 4, 8}[static_cast<std::size_t>(i % 5)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, DType::f32, 3);
    for (const KernelOp& op : g.ops) ++met[op.kind];
    const KernelGraph all = over_ranks(g);
    validate(all);
    EXPECT_FALSE(has_collectives(all));
    std::vector<Array> inputs;
    for (const int t : all.inputs)
      inputs.push_back(numbers(all.tensors[static_cast<std::size_t>(t)].shape, static_cast<int>(inputs.size()) + i));
    const KernelGraph flat = flat_collectives(g);
    for (const KernelOp& op : flat.ops)
      if (is_collective(op.kind)) EXPECT_TRUE(op.attributes.dim <= 0 && op.attributes.sizes != (Shape{0, 1})) << i;
    const std::vector<Array> expected = outputs_by_segments(g, inputs), found = reference::run_reference(all, inputs);
    const std::vector<Array> flattened = outputs_by_segments(flat, inputs);
    for (std::size_t o = 0; o < flattened.size(); ++o)
      ASSERT_EQ(flattened[o].values, expected[o].values) << json::to_json(flat) << "output " << o;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t o = 0; o < found.size(); ++o)
      ASSERT_EQ(found[o].values, expected[o].values) << json::to_json(g) << "output " << o;
  }
  for (const OpKind kind : {OpKind::all_reduce, OpKind::all_reduce_max, OpKind::all_gather, OpKind::reduce_scatter,
                            OpKind::all_to_all, OpKind::broadcast, OpKind::rank})
    EXPECT_GT(met[kind], 15) << name(kind);
}

/// Rank r's part of a tensor along a dimension, element by element.
Array part_of(const Array& whole, int dim, int r, int ranks) {
  Shape shape = whole.shape;
  shape[static_cast<std::size_t>(dim)] /= ranks;
  Array part = reference::make_array(shape);
  for (std::size_t i = 0; i < part.values.size(); ++i) {
    Shape at = coordinates(static_cast<std::int64_t>(i), shape);
    at[static_cast<std::size_t>(dim)] += r * shape[static_cast<std::size_t>(dim)];
    part.values[i] = whole.values.at(static_cast<std::size_t>(at[0] * whole.shape[1] + at[1]));
  }
  return part;
}

// unsharded(g)(whole) == over_ranks(g)(parts of whole), whose outputs are parts of the whole or one rank's.
TEST(Collective, UnshardedIsWhatRanksComputeOfTheirParts) {
  test::Rng rng(21);
  int sharded = 0;
  for (int i = 0; i < 80; ++i) {
    const int ranks = std::vector{1, 2, 3, 4, 8}[static_cast<std::size_t>(i % 5)];
    const KernelGraph g = test::random_over_ranks(rng, ranks, DType::f32, 2), all = over_ranks(g);
    std::vector<Shard> shards;
    std::vector<Array> whole, parts(g.inputs.size() * static_cast<std::size_t>(ranks));
    for (std::size_t k = 0; k < g.inputs.size(); ++k) {
      const KernelTensor& t = g.tensors[static_cast<std::size_t>(g.inputs[k])];
      const int dim = rng.chance(60) ? static_cast<int>(rng.below(2)) : -1;
      Shape shape = t.shape;
      if (dim >= 0) shards.push_back({t.name, dim}), shape[static_cast<std::size_t>(dim)] *= ranks;
      whole.push_back(numbers(shape, static_cast<int>(k) + i));
      for (int r = 0; r < ranks; ++r)
        parts[static_cast<std::size_t>(r) * g.inputs.size() + k] =
            dim < 0 ? whole.back() : part_of(whole.back(), dim, r, ranks);
    }
    const int dim = rng.chance(50) ? static_cast<int>(rng.below(2)) : -1, from = static_cast<int>(rng.below(ranks));
    if (dim >= 0) shards.push_back({"y", dim}), ++sharded;
    const KernelGraph one = unsharded(g, shards, from);
    validate(one);
    const Array found = reference::run_reference(one, whole).at(0);
    const std::vector<Array> expected = reference::run_reference(all, parts);
    for (int r = 0; r < ranks; ++r)
      if (dim >= 0 || r == from)
        ASSERT_EQ((dim < 0 ? found : part_of(found, dim, r, ranks)).values,
                  expected[static_cast<std::size_t>(r)].values)
            << json::to_json(g) << "rank " << r;
  }
  EXPECT_GT(sharded, 20);
}

TEST(Collective, GraphOverRanksIsReadAsItIsWritten) {
  test::Rng rng(7);
  for (int i = 0; i < 20; ++i) {
    const std::string text = json::to_json(test::random_over_ranks(rng, 1 + i % 4, DType::bf16, 2));
    EXPECT_EQ(json::to_json(json::from_json(json::parse_json(text, "g"), "g")), text);
  }
}

TEST(Collective, OtherNumberOfRanksHasTheShapesOfIt) {
  Builder b("g", 2);
  b.output(all_gather(b.input("x", {4, 6}), 1), "y");
  const KernelGraph g = b.build(), three = with_ranks(g, 3);
  EXPECT_EQ(g.tensors[static_cast<std::size_t>(g.outputs[0])].shape, (Shape{4, 12}));
  EXPECT_EQ(three.tensors[static_cast<std::size_t>(three.outputs[0])].shape, (Shape{4, 18}));
  Builder c("g", 2);
  c.output(reduce_scatter(c.input("x", {4, 6}), 0), "y");
  EXPECT_EQ(message([&] { with_ranks(c.build(), 3); }),
            "graph g, operator 0 (reduce_scatter): expected a dimension 0 that the graph's 3 ranks divide, found 4 of "
            "(4, 6)");
}

TEST(Collective, UnshardedComputesWhatAllRanksHaveOnce) {
  Builder b("mlp", 4);
  const TensorHandle x = b.input("x", {16, 64}), up = b.input("up", {64, 32}), down = b.input("down", {32, 64});
  b.output(rms_norm(all_reduce(matmul(silu(matmul(x, up)), down))), "y");
  const KernelGraph one = unsharded(b.build(), {{"up", 1}, {"down", 0}});
  EXPECT_EQ(one.inputs.size(), 3U);
  EXPECT_EQ(one.tensors[static_cast<std::size_t>(one.inputs[1])].shape, (Shape{64, 128}));
  int norms = 0, products = 0;
  for (const KernelOp& op : one.ops) norms += op.kind == OpKind::rms_norm, products += op.kind == OpKind::matmul;
  EXPECT_EQ(norms, 1);
  EXPECT_EQ(products, 8);
}

TEST(Collective, WrongShardsAreRefused) {
  Builder b("g", 2);
  b.output(all_reduce(b.input("x", {4, 6})), "y");
  const KernelGraph g = b.build();
  EXPECT_EQ(message([&] {
              unsharded(g, {{"z", 0}});
            }),
            "graph g: expected a sharded tensor to be an input or an output, found z");
  EXPECT_EQ(message([&] {
              unsharded(g, {{"x", 2}});
            }),
            "graph g: expected x to be sharded along a dimension of (4, 6), found 2");
  EXPECT_EQ(message([&] { unsharded(g, {{"x", 0}, {"x", 1}}); }), "graph g: expected one shard of x, found two");
}

TEST(Collective, RankNeedsAnInput) {
  Builder b("g", 2);
  b.output(cast(b.rank(), DType::f32), "y");
  const KernelGraph g = b.build();
  EXPECT_EQ(message([&] { over_ranks(g); }),
            "graph g: expected an input in a graph that asks for its rank, found none");
}

TEST(Segments, IndependentCollectivesFollowTheSameKernels) {
  Builder b("g", 2);
  const TensorHandle x = b.input("x", {8, 8}), a = relu(x), c = exp(x);
  b.output(all_reduce(a) + all_gather(slice(c, 0, 0, 4), 0), "y");
  const std::vector<Segment> all = segments(b.build());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_FALSE(all[0].is_collective());
  EXPECT_EQ(all[0].outputs.size(), 2U);
  EXPECT_TRUE(all[1].is_collective() && all[2].is_collective());
  EXPECT_EQ(all[3].inputs.size(), 2U);
}

TEST(Segments, ViewsAndWhatIsOfInputsAloneComeWhereTheyAreRead) {
  Builder b("g", 2);
  const TensorHandle x = b.input("x", {8, 4}), w = b.input("w", {6, 4}), bias = b.input("bias", {6});
  const TensorHandle weights = exp(permute(w, {1, 0})), h = relu(x), seen = reshape(h, {4, 8});
  const TensorHandle a = all_reduce(h);
  b.output(matmul(a, weights) + bias * 2.0, "y");
  b.output(all_reduce(reshape(a, {4, 8}) * 3.0) + seen, "z");
  const std::vector<Segment> all = segments(b.build());
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].kernels.ops.size(), 1U);  // relu
  EXPECT_EQ(all[2].kernels.ops.size(), 7U);  // all but the last sum and its view
  EXPECT_EQ(all[4].kernels.ops.size(), 2U);
}

// A cache that one segment reads and a later one writes.
TEST(Segments, MemoryIsTakenAfterItIsRead) {
  Builder b("g", 2);
  const TensorHandle cache = b.input("cache", {8, 4}), x = b.input("x", {1, 4}), y = all_reduce(cache);
  b.output(b.in_place(slice_scatter(cache, x, 0, 2), cache), "new_cache");
  b.output(y + cache, "y");
  const KernelGraph g = b.build();
  const std::vector<Segment> all = segments(g);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].is_collective());
  EXPECT_EQ(all[1].kernels.ops.size(), 2U);
  validate(all[1].kernels);
}

}  // namespace
}  // namespace zellige::ranks
