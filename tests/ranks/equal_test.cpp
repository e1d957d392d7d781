// Graphs over ranks against the graphs of whole tensors that they divide: layers of tensor, sequence and expert parallelism,
// and wrong shardings of them.
#include <gtest/gtest.h>

#include "../search/expect_equal.hpp"
#include "ranks/over_ranks.hpp"

namespace zellige::search {
namespace {

using namespace test;
using ranks::Shard;

/// A layer in two forms: over `ranks` ranks, on one rank's tensors, and whole.
struct Layer {
  std::string name;
  std::vector<Shard> shards;
  KernelGraph (*over)(int ranks);
  KernelGraph (*whole)(int ranks);
};

constexpr std::int64_t rows = 8, hidden = 16, wide = 8, heads = 2, head = 8;  // wide, heads: of one rank

TensorHandle mlp(TensorHandle x, TensorHandle gate, TensorHandle up, TensorHandle down) {
  return matmul(silu(matmul(x, gate)) * matmul(x, up), down);
}
KernelGraph mlp_over(int ranks) {
  Builder b("mlp", ranks);
  const TensorHandle x = b.input("x", {rows, hidden}), gate = b.input("gate", {hidden, wide}),
                     up = b.input("up", {hidden, wide}), down = b.input("down", {wide, hidden});
  b.output(all_reduce(mlp(x, gate, up, down)), "y");
  return b.build();
}
KernelGraph mlp_whole(int ranks) {
  Builder b("whole");
  const TensorHandle x = b.input("x", {rows, hidden}), gate = b.input("gate", {hidden, ranks * wide}),
                     up = b.input("up", {hidden, ranks * wide}), down = b.input("down", {ranks * wide, hidden});
  b.output(mlp(x, gate, up, down), "y");
  return b.build();
}

/// Heads of attention: q, k, v of (heads, rows, head), and the output's weights.
TensorHandle attention(TensorHandle x, TensorHandle wq, TensorHandle wk, TensorHandle wv, TensorHandle wo,
                       std::int64_t n) {
  const auto split = [&](TensorHandle w) { return permute(reshape(matmul(x, w), {rows, n, head}), {1, 0, 2}); };
  const TensorHandle scores = matmul(split(wq), permute(split(wk), {0, 2, 1})) * 0.25;
  const TensorHandle o = matmul(softmax(graph::mask(scores, {.tril = 0}), 2), split(wv));
  return matmul(reshape(permute(o, {1, 0, 2}), {rows, n * head}), wo);
}
KernelGraph attention_of(Builder& b, std::int64_t n, bool reduce) {
  const TensorHandle x = b.input("x", {rows, hidden}), wq = b.input("wq", {hidden, n * head}),
                     wk = b.input("wk", {hidden, n * head}), wv = b.input("wv", {hidden, n * head}),
                     wo = b.input("wo", {n * head, hidden});
  const TensorHandle y = attention(x, wq, wk, wv, wo, n);
  b.output(reduce ? all_reduce(y) : y, "y");
  return b.build();
}
KernelGraph attention_over(int ranks) {
  Builder b("attention", ranks);
  return attention_of(b, heads, true);
}
KernelGraph attention_whole(int ranks) {
  Builder b("whole");
  return attention_of(b, ranks * heads, false);
}

// Sequence parallelism: rows are divided where the norm is, and whole where the product is.
KernelGraph norm_over(int ranks) {
  Builder b("norm", ranks);
  const TensorHandle x = b.input("x", {rows / 2, hidden}), w = b.input("w", {hidden, wide}),
                     down = b.input("down", {wide, hidden});
  const TensorHandle whole = all_gather(rms_norm(x, 1e-5), 0);
  b.output(x + reduce_scatter(matmul(relu(matmul(whole, w)), down), 0), "y");
  return b.build();
}
KernelGraph norm_whole(int ranks) {
  Builder b("whole");
  const TensorHandle x = b.input("x", {ranks * rows / 2, hidden}), w = b.input("w", {hidden, ranks * wide}),
                     down = b.input("down", {ranks * wide, hidden});
  b.output(x + matmul(relu(matmul(rms_norm(x, 1e-5), w)), down), "y");
  return b.build();
}

// A router whose columns, one per expert, are divided: the softmax over all experts needs the greatest score and the sum.
KernelGraph gates_over(int ranks) {
  Builder b("gates", ranks);
  const TensorHandle x = b.input("x", {rows, hidden}), w = b.input("w", {hidden, 4});
  const TensorHandle s = matmul(x, w), e = exp(s - all_reduce_max(amax(s, 1, true)));
  b.output(e / all_reduce(sum(e, 1, true)), "gates");
  return b.build();
}
KernelGraph gates_whole(int ranks) {
  Builder b("whole");
  const TensorHandle x = b.input("x", {rows, hidden}), w = b.input("w", {hidden, ranks * 4});
  b.output(softmax(matmul(x, w), 1), "gates");
  return b.build();
}

// Experts: each rank has rows of tokens and one expert's weights; rows of the tokens go to the expert's rank and back.
KernelGraph experts_over(int ranks) {
  Builder b("experts", ranks);
  const TensorHandle x = b.input("x", {ranks, rows, hidden}), w = b.input("w", {1, hidden, wide});
  const TensorHandle there = all_to_all(x, 0, 1);  // (1, ranks * rows, hidden): of this rank's expert
  b.output(all_to_all(relu(matmul(there, w)), 1, 0), "y");
  return b.build();
}
KernelGraph experts_whole(int ranks) {
  Builder b("whole");
  const TensorHandle x = b.input("x", {ranks, ranks * rows, hidden}), w = b.input("w", {ranks, hidden, wide});
  b.output(relu(matmul(x, w)), "y");
  return b.build();
}

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"mlp", {{"gate", 1}, {"up", 1}, {"down", 0}}, mlp_over, mlp_whole},
      {"attention", {{"wq", 1}, {"wk", 1}, {"wv", 1}, {"wo", 0}}, attention_over, attention_whole},
      {"norm", {{"x", 0}, {"w", 1}, {"down", 0}, {"y", 0}}, norm_over, norm_whole},
      {"gates", {{"w", 1}, {"gates", 1}}, gates_over, gates_whole},
      {"experts", {{"x", 1}, {"w", 0}, {"y", 1}}, experts_over, experts_whole},
  };
  return all;
}

TEST(EqualOverRanks, ShardedLayersAreTheWholeOnes) {
  for (const Layer& layer : layers())
    for (const int ranks : {2, 4}) {
      SCOPED_TRACE(fmt::format("{} over {} ranks", layer.name, ranks));
      expect(Answer::equal, ranks::unsharded(layer.over(ranks), layer.shards), layer.whole(ranks));
    }
}

// A maximum in place of a sum, and one rank's part of it in place of all.
TEST(EqualOverRanks, WrongCollectivesAreDifferent) {
  int changes = 0;
  for (const Layer& layer : layers()) {
    const KernelGraph g = layer.over(2), whole = layer.whole(2);
    for (std::size_t i = 0; i < g.ops.size(); ++i) {
      std::vector<KernelGraph> changed;
      const auto as = [&](graph::OpKind kind, graph::Attributes a) {
        changed.push_back(g);
        changed.back().ops[i].kind = kind, changed.back().ops[i].attributes = std::move(a);
      };
      if (g.ops[i].kind == graph::OpKind::all_reduce)
        as(graph::OpKind::all_reduce_max, {}), as(graph::OpKind::broadcast, {.start = 1});
      for (const KernelGraph& other : changed) {
        SCOPED_TRACE(fmt::format("{}, operator {} as {}", layer.name, i, graph::name(other.ops[i].kind)));
        ++changes;
        expect(Answer::different, ranks::unsharded(other, layer.shards), whole);
      }
    }
  }
  EXPECT_EQ(changes, 6);
}

TEST(EqualOverRanks, WrongShardingsAreDifferent) {
  // Square weights: divided along the other dimension they fit as well, and compute something else.
  Builder b("mlp", 2);
  const TensorHandle x = b.input("x", {4, 8}), w = b.input("w", {8, 8}), v = b.input("v", {8, 8});
  b.output(all_reduce(matmul(relu(matmul(x, w)), v)), "y");
  const KernelGraph over = b.build();
  Builder c("whole");
  const TensorHandle X = c.input("x", {4, 8}), W = c.input("w", {8, 16}), V = c.input("v", {16, 8});
  c.output(matmul(relu(matmul(X, W)), V), "y");
  const KernelGraph whole = c.build();
  expect(Answer::equal, ranks::unsharded(over, {{"w", 1}, {"v", 0}}), whole);
  // The parts of v in the wrong order: rank r multiplies by the part of the other rank.
  Builder d("swapped", 2);
  const TensorHandle x2 = d.input("x", {4, 8}), w2 = d.input("w", {8, 8}), v2 = d.input("v", {8, 8});
  const TensorHandle both = all_gather(v2, 0), other = slice(both, 0, 0, 8);
  d.output(all_reduce(matmul(relu(matmul(x2, w2)), other)), "y");
  expect(Answer::different, ranks::unsharded(d.build(), {{"w", 1}, {"v", 0}}), whole);
}

TEST(EqualOverRanks, CollectivesThemselvesAreNotCompared) {
  try {
    equal(mlp_over(2), mlp_whole(2));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_STREQ(
        e.what(),
        "graph mlp, operator 5 (all_reduce): expected a graph without collectives, found one over 2 ranks; compare "
        "the graph that unsharded() makes of it, as `zellige equal --shard` does");
  }
}

}  // namespace
}  // namespace zellige::search
