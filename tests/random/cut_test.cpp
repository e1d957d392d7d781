// A part of a tensor computed from parts of its operands equals that part of the whole: on random graphs, bit
// for bit.
#include "reference/cut.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <random>
#include <set>

#include "generate.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "part.hpp"
#include "reference/inputs.hpp"
#include "reference/reference.hpp"
#include "reference/region.hpp"

namespace zellige::random_graphs {
namespace {

using namespace graph;

class Cuts : public testing::Test {
 protected:
  // Zellige's own loop sums in order of k for every element; a BLAS has a different order for each shape.
  static void SetUpTestSuite() { setenv("ZELLIGE_BLAS", "none", 1); }

  std::int64_t between(std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random);
  }

  std::vector<reference::Array> inputs(const KernelGraph& g) {
    std::normal_distribution<double> bell;
    std::vector<reference::Array> all;
    const std::vector<Numbers> numbers = drawn_numbers(g);
    for (int t : g.inputs) {
      all.push_back(reference::make_array(g.tensors[t].shape));
      for (double& v : all.back().values) v = round_to(g.tensors[t].dtype, bell(random) / 4);
      if (const Numbers n = numbers[all.size() - 1]; n.bound > 0)
        reference::draw_numbers(n, random(), 0, size(g.tensors[t].shape), all.back().values.data());
    }
    return all;
  }

  reference::TensorRegion region(const Shape& shape) {
    reference::TensorRegion r = reference::whole(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      r.origin[d] = between(0, shape[d] - 1);
      r.extent[d] = between(1, shape[d] - r.origin[d]);
    }
    return r;
  }

  /// Every tensor that an operator makes, in parts, from the inputs and from what is known of others.
  void check(const KernelGraph& g, int parts) {
    const std::vector<reference::Array> given = inputs(g);
    reference::Reference all = reference::run(g, given);
    for (std::size_t i = 0; i < given.size(); ++i) all.tensors[g.inputs[i]] = given[i];
    for (const KernelOp& op : g.ops)
      for (int t : op.outputs)
        for (int n = 0; n < parts; ++n) {
          std::vector<bool> known(g.tensors.size());
          if (n % 2)
            for (std::size_t k = 0; k < known.size(); ++k) known[k] = between(0, 1);
          const reference::TensorRegion r = n == 0 ? reference::whole(g.tensors[t].shape) : region(g.tensors[t].shape);
          const reference::RegionGraph c = reference::cut(g, t, r, known);
          std::vector<reference::Array> arrays;
          for (const reference::RegionGraph::Part& p : c.inputs) {
            EXPECT_NE(p.tensor, t);
            arrays.push_back(part(all.tensors[p.tensor], p.region));
          }
          const reference::Array expected = part(all.tensors[t], r),
                                 found = reference::run_reference(c.graph, arrays).at(0);
          ASSERT_EQ(found.shape, expected.shape);
          for (std::size_t e = 0; e < found.values.size(); ++e) {
            const double x = found.values[e], y = expected.values[e];
            ASSERT_TRUE(x == y || (x != x && y != y))
                << g.name << " " << g.tensors[t].name << " at " << to_string(r.origin) << " " << to_string(r.extent)
                << ": " << x << ", not " << y;
          }
          ++checked, smaller += reference::work(c.graph) < reference::work(g) / 2;
          for (const KernelOp& o : g.ops) kinds.insert(name(o.kind));
        }
  }

  std::mt19937_64 random{7};
  std::set<std::string_view> kinds;
  int checked = 0, smaller = 0;
};

TEST_F(Cuts, AreThatPartOfTheWhole) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    check(random_graph(seed), 4);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(checked, 1000);
  EXPECT_GT(smaller, checked / 4) << "a part should not take the whole";
  for (const char* kind : {"matmul", "reduction", "rms_norm", "concat", "split", "custom", "add"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
}

// Rows of attention need those rows of Q, and all of K and V.
TEST_F(Cuts, RowsOfAttentionNeedAllKeys) {
  Builder b("attention");
  const TensorHandle Q = b.input("Q", {256, 64}), K = b.input("K", {64, 512}), V = b.input("V", {512, 32});
  const TensorHandle P = exp(matmul(Q, K));
  b.output(matmul(P, V) / reduction(P, 1), "O");
  const KernelGraph g = b.build();
  check(g, 3);
  const reference::RegionGraph c = reference::cut(g, g.outputs[0], {{32, 8}, {16, 8}});
  std::vector<std::string> parts;
  for (const reference::RegionGraph::Part& p : c.inputs)
    parts.push_back(g.tensors[p.tensor].name + to_string(p.region.origin) + to_string(p.region.extent));
  EXPECT_EQ(parts, (std::vector<std::string>{"Q(32, 0)(16, 64)", "K(0, 0)(64, 512)", "V(0, 8)(512, 8)"}));
  EXPECT_EQ(c.graph.ops.size(), g.ops.size()) << "what two operators read is computed once";
}

// Blocks that do not write the part do not run, in a grid of three axes, with a tensor that is loaded twice.
TEST_F(Cuts, OfACustomOperatorTakeItsBlocks) {
  Builder b("g");
  const TensorHandle X = b.input("X", {24, 32}), W = b.input("W", {32, 40});
  b.output(b.custom({.grid = {4, 5, 1}, .block = {32}, .loop = 2},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X, {.x = 0, .loop = 1}), w = t.load(W, {.y = 1, .loop = 0}),
                                       again = t.load(X, {.x = 0});
                      t.store(accum(matmul(x, w)) + reduction(again, 1), {.x = 0, .y = 1});
                    })
               .at(0),
           "Y");
  const KernelGraph g = b.build();
  check(g, 6);
  const reference::RegionGraph c = reference::cut(g, g.outputs[0], {{7, 9}, {5, 7}});
  EXPECT_EQ(c.graph.ops[0].block->grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(c.inputs[0].region, (reference::TensorRegion{{6, 0}, {6, 32}}));
  EXPECT_EQ(c.inputs[1].region, (reference::TensorRegion{{0, 8}, {32, 8}}));
  EXPECT_EQ(c.inputs.size(), 2u);
  EXPECT_EQ(c.graph.ops[0].inputs.size(), 3u);
}

// A reduction to more than one element, a join and its parts, along dimensions that the region cuts.
TEST_F(Cuts, AlongEveryDimension) {
  Builder b("g");
  const TensorHandle X = b.input("X", {6, 8, 10}), Y = b.input("Y", {6, 8, 1});
  for (int dim = 0; dim < 3; ++dim) b.output(reduction(X, dim, 2));
  const TensorHandle joined = concat<KernelLevel>({X, relu(X), X * Y}, 1);
  b.output(joined);
  const auto parts = split(joined, 1, {5, 12, 7});
  b.output(parts.at(1) * 2.0);
  b.output(rms_norm(parts.at(2)));
  check(b.build(), 12);
}

// Composed operators: along every dimension, kept or removed, and norms with weights of their own rank.
TEST_F(Cuts, OfComposedOperators) {
  Builder b("g");
  const TensorHandle X = b.input("X", {6, 8, 10}), V = b.input("V", {7}), w = b.input("w", {10}),
                     c = b.input("c", {1, 10});
  for (int dim = 0; dim < 3; ++dim) {
    for (const bool keep : {false, true}) {
      b.output(amax(X, dim, keep));
      b.output(mean(X, dim, keep));
      b.output(logsumexp(X, dim, keep) * 0.5);
    }
    b.output(softmax(X, dim));
    b.output(log_softmax(X, dim));
  }
  b.output(sum(V, 0));
  b.output(rms_norm(X, w, 1e-5));
  b.output(layer_norm(X, w, c, 1e-5));
  b.output(where(X, X + w, -1.0));
  check(b.build(), 8);
  EXPECT_GT(smaller, checked / 2);
}

// A mask counts in the whole's coordinates, wherever the part lies: at either level.
TEST_F(Cuts, OfMasks) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4, 18, 20});
  for (const Kept& k : {Kept{.tril = 0}, {.tril = 2, .triu = -3}, {.length = 7}}) {
    b.output(mask(X, k));
    b.output(mask(X, k, 0.5, {2, 0}));
    b.output(b.custom({.grid = {3, 2, 1}, .block = {32}, .loop = 5}, [&](BlockBuilder& t) {
                const Split split{.x = 1, .y = 0, .loop = 2};
                t.store(accum(t.mask(t.load(X, split), k, split, 0)), {.x = 1, .y = 0});
              }).at(0));
  }
  check(b.build(), 12);
}

TEST_F(Cuts, OfRotaryEmbeddings) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4, 6, 20}), C = b.input("C", {6, 10}), S = b.input("S", {4, 1, 10}),
                     E = b.input("E", {1, 20});
  for (const TensorHandle& x : {X, X * 2.0}) {
    b.output(rotary(x, C, S) * 2.0);
    b.output(rotary_interleaved(x, C, S) * 2.0);
    b.output(rotary(x, E, E) * 2.0);
    b.output(rotary_interleaved(x, E, E) * 2.0);
  }
  check(b.build(), 12);
}

// Views, and products whose batches broadcast.
TEST_F(Cuts, OfViewsAndBatches) {
  Builder b("g");
  const TensorHandle X = b.input("X", {6, 8, 20}), W = b.input("W", {20, 7}), H = b.input("H", {5, 1, 7, 9});
  b.output(permute(X, {2, 0, 1}) * 2.0);
  b.output(slice(X, 1, 3, 7) * 2.0);
  b.output(expand(slice(X, 0, 2, 3), {4, 8, 20}) * 2.0);
  for (const Shape& shape :
       {Shape{48, 20}, {6, 160}, {960}, {6, 4, 2, 5, 4}, {2, 3, 160}, {16, 60}, {6, 1, 8, 20}, {40, 24}})
    b.output(reshape(X, shape) * 2.0);
  const TensorHandle product = matmul(X, W);
  b.output(product);
  b.output(matmul(product, H));
  check(b.build(), 12);
}

TEST_F(Cuts, OfAReshapeTakeTheBoxAround) {
  const reference::Regrouped heads = reference::regroup({{0, 1, 0}, {8, 2, 128}}, {8, 32, 128}, {8, 4096});
  EXPECT_EQ(heads.seen, (reference::TensorRegion{{0, 1, 0}, {8, 2, 128}}));
  EXPECT_EQ(heads.from, (reference::TensorRegion{{0, 128}, {8, 256}}));
  const reference::Regrouped columns = reference::regroup({{3, 200}, {2, 100}}, {8, 4096}, {8, 32, 128});
  EXPECT_EQ(columns.seen, (reference::TensorRegion{{3, 128}, {2, 256}}));
  EXPECT_EQ(columns.from, (reference::TensorRegion{{3, 1, 0}, {2, 2, 128}}));
  const reference::Regrouped separate =
      reference::regroup({{5, 1}, {1, 1}}, {6, 4}, {4, 6});  // nothing in common but the one element
  EXPECT_EQ(separate.from, (reference::TensorRegion{{3, 3}, {1, 1}}));
}

}  // namespace
}  // namespace zellige::random_graphs
