// Tilings that would change a graph's meaning are refused, with the name of the affected operator.
#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "retile/retile.hpp"

namespace zellige::retile::test {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

KernelGraph graph_of(const graph::CustomLaunch& launch,
                     const std::function<void(BlockBuilder&, TensorHandle, TensorHandle)>& body) {
  Builder b("g");
  TensorHandle x = b.input("X", {16, 64}), w = b.input("W", {64, 32});
  b.output(b.custom(launch, [&](BlockBuilder& t) { body(t, x, w); }).at(0), "Y");
  return b.build();
}

std::string refusal(const KernelGraph& g, const OpTiling& to) {
  try {
    retile(g, {to});
    return "taken";
  } catch (const Error& e) {
    return e.what();
  }
}

// X W with K in the loop.
KernelGraph looped(const std::function<TileHandle(TileHandle)>& then) {
  return graph_of({.grid = {2}, .block = {32}, .loop = 4}, [&](BlockBuilder& t, TensorHandle x, TensorHandle w) {
    TileHandle a = t.load(x, {.loop = 1}), b = t.load(w, {.x = 1, .loop = 0});
    t.store(then(matmul(a, b)), {.x = 1});
  });
}

TEST(Refusal, OfALoop) {
  const OpTiling to{0, {2}, {32}, 8};
  const std::string where = "graph g, operator 0 (custom), block operator ",
                    cannot = "the loop cannot go from 4 to 8 iterations: ";
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum(p); }), to), "taken");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum(p * 2.0); }), to), "taken");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum(tanh(p)); }), to),
            where + "3 (tanh): " + cannot + "its input would be a partial sum, in which it is not linear");
  EXPECT_EQ(refusal(looped([](TileHandle p) {
                      return graph::cast(accum(graph::cast(p, graph::DType::f16)), graph::DType::f16);
                    }),
                    to),
            where + "3 (cast): " + cannot + "its input would be a partial sum, in which it is not linear");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum(p + 1.0); }), to),
            where + "3 (add): " + cannot + "its input would be a partial sum, in which it is not linear");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum_max(p); }), to),
            where + "3 (accum_max): " + cannot + "it takes maxima of what is in parts");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum_logsumexp(p); }), to),
            where + "3 (accum_logsumexp): " + cannot + "it takes logarithms of sums of what is in parts");
  EXPECT_EQ(refusal(looped([](TileHandle p) { return accum_red_rms(p); }), to),
            where + "3 (accum_red_rms): " + cannot + "its input would be a partial sum, in which it is not linear");
}

TEST(Refusal, OfASumOfTheSame) {
  const KernelGraph g =
      graph_of({.grid = {2}, .block = {32}, .loop = 4}, [](BlockBuilder& t, TensorHandle x, TensorHandle w) {
        TileHandle a = t.load(x, {.loop = 1}), b = t.load(w, {.x = 1, .loop = 0}), c = t.load(w, {.x = 1});
        t.store(accum(matmul(a, b)) + accum(graph::reduction(c, 0)), {.x = 1});
      });
  EXPECT_EQ(refusal(g, {0, {2}, {32}, 2}),
            "graph g, operator 0 (custom), block operator 4 (accum): the loop cannot go from 4 to 2 "
            "iterations: it adds the same "
            "tile in every iteration");
  EXPECT_EQ(refusal(g, {0, {4}, {32}, 4}), "taken");
}

TEST(Refusal, OfAGrid) {
  const auto along = [](int dim, const std::function<TileHandle(TileHandle)>& f) {
    return graph_of({.grid = {2}, .block = {32}}, [&](BlockBuilder& t, TensorHandle x, TensorHandle) {
      t.store(f(t.load(x, {.x = dim})), {.x = dim});
    });
  };
  const OpTiling to{0, {4}, {32}, 1};
  const std::string where = "graph g, operator 0 (custom), block operator ",
                    cannot = "the grid's x cannot go from 2 to 4 blocks: ";
  EXPECT_EQ(refusal(along(0, [](TileHandle a) { return graph::rms_norm(a, 1e-3); }), to), "taken");
  EXPECT_EQ(refusal(along(1, [](TileHandle a) { return graph::rms_norm(a, 1e-3); }), to),
            where + "1 (rms_norm): " + cannot + "it works along dimension 1, of which a tile has a part");
  EXPECT_EQ(refusal(along(1, [](TileHandle a) { return graph::softmax(a, 1); }), to),
            where + "1 (softmax): " + cannot + "it works along dimension 1, of which a tile has a part");
  EXPECT_EQ(refusal(along(1, [](TileHandle a) { return graph::concat(a, a, 1); }), to),
            where + "1 (concat): " + cannot + "it works along dimension 1, of which a tile has a part");
  EXPECT_EQ(refusal(along(0, [](TileHandle a) { return graph::reduction(a, 0); }), to),
            "graph g, operator 0 (custom): expected partial results that a later kernel adds in Y, found an "
            "output of the graph");
  EXPECT_EQ(refusal(along(0, [](TileHandle a) { return a; }), {0, {3}, {32}, 1}),
            "graph g, operator 0 (custom), block operator 0 (input): expected grid axis x to divide "
            "dimension 0 of (16, 64), found 3 "
            "blocks for 16");
  EXPECT_EQ(refusal(along(0, [](TileHandle a) { return a; }), {1, {4}, {32}, 1}),
            "graph g: expected a tiling of its custom operators (0), found one of 1");
  EXPECT_EQ(refusal(along(0, [](TileHandle a) { return a; }), {.op = 0, .product = MatmulTile{64, 128, 64, 128}}),
            "graph g: expected a grid and a loop of operator 0, found a matmul's tile");
}

TEST(Refusal, OfASliceThatWouldCutTiles) {
  const auto stored = [](std::int64_t end) {
    return graph_of({.grid = {8}, .block = {32}}, [&](BlockBuilder& t, TensorHandle x, TensorHandle) {
      t.store(graph::permute(t.load(x, {.x = 1}), {1, 0}), {.x = 0}, {}, {}, {0, 0, end});
    });
  };
  EXPECT_EQ(refusal(stored(32), {0, {4}, {32}, 1}), "taken");
  EXPECT_EQ(refusal(stored(24), {0, {4}, {32}, 1}),
            "graph g, operator 0 (custom), block operator 2 (output): expected start and end to be whole tiles "
            "of 16 along "
            "dimension 0, one after the other, within 0 and 64, found 0 and 24");
}

TEST(Refusal, OfAMaskThatIsNotToldWhereItLies) {
  const auto masked = [](graph::Split told) {
    return graph_of({.grid = {2}, .block = {32}}, [&](BlockBuilder& t, TensorHandle x, TensorHandle) {
      t.store(t.mask(t.load(x, {.x = 0}), {.tril = 3}, told, 0), {.x = 0});
    });
  };
  EXPECT_EQ(refusal(masked({.x = 0}), {0, {4}, {32}, 1}), "taken");
  EXPECT_EQ(refusal(masked({}), {0, {4}, {32}, 1}),
            "graph g, operator 0 (custom), block operator 1 (mask): the grid's x cannot go from 2 to 4 "
            "blocks: it keeps elements by "
            "their position, which would be unknown");
}

TEST(Refusal, OfPartsThatDoNotMatch) {
  // Adjacent along the rows in one operand, along the columns in the other.
  const KernelGraph g = graph_of({.grid = {2}, .block = {32}}, [](BlockBuilder& t, TensorHandle x, TensorHandle w) {
    t.store(matmul(t.load(x, {.x = 0}), t.load(w, {.x = 1})), {.x = 0});
  });
  EXPECT_EQ(refusal(g, {0, {4}, {32}, 1}),
            "graph g, operator 0 (custom), block operator 2 (matmul): the grid's x cannot go from 2 to 4 "
            "blocks: both M and N are in "
            "parts");
  // The stored tiles do not depend on the blocks: only their number does.
  const KernelGraph same = graph_of({.grid = {2}, .block = {32}}, [](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(t.load(x), {.x = 0});
  });
  EXPECT_EQ(refusal(same, {0, {4}, {32}, 1}),
            "graph g, operator 0 (custom), block operator 1 (output): the grid's x cannot go from 2 to 4 "
            "blocks: each block stores "
            "the same tile, and their number is the result's size");
}

/// Blocks along x store partial results of X W; a second kernel applies `then` to them, eight blocks of rows.
KernelGraph split(const std::function<TileHandle(TileHandle)>& then, graph::Split read = {.x = 0}) {
  Builder b("g");
  TensorHandle x = b.input("X", {16, 64}), w = b.input("W", {64, 32});
  TensorHandle p = b.custom({.grid = {4}, .block = {32}, .loop = 2}, [&](BlockBuilder& t) {
                      t.store(accum(matmul(t.load(x, {.x = 1, .loop = 1}), t.load(w, {.x = 0, .loop = 0}))), {.x = 1});
                    }).at(0);
  b.output(
      b.custom({.grid = {8}, .block = {32}}, [&](BlockBuilder& t) { t.store(then(t.load(p, read)), {.x = 0}); }).at(0),
      "Y");
  return b.build();
}

std::string split_refusal(const KernelGraph& g) {
  Tiling t = tiling_of(g);
  t[0].grid.x = 8;
  try {
    const KernelGraph h = retile(g, t);
    EXPECT_EQ(h.tensors[g.ops[0].outputs[0]].dtype, graph::DType::f32);
    EXPECT_EQ(h.tensors[g.ops[0].outputs[0]].shape, (graph::Shape{16, 256}));
    return "taken";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Refusal, OfAReductionSplitOtherwise) {
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return accum_redtox_sum(p, 32); })), "taken");
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return silu(graph::reduction(p, 1, 32)); })), "taken");
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return graph::reduction(p, 1, 64); })),
            "graph g, operator 1 (custom), block operator 1 (reduction): the accumulators that it reads "
            "cannot be split otherwise: 64 "
            "accumulators are kept separately, of elements at distance 32");
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return graph::reduction(silu(p), 1, 32); })),
            "graph g, operator 1 (custom), block operator 1 (silu): the accumulators that it reads cannot "
            "be split otherwise: its input "
            "would be a partial sum, in which it is not linear");
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return p; })),
            "graph g, operator 1 (custom): expected it to sum what operator 0 leaves in parts, found it to "
            "pass the parts on");
  EXPECT_EQ(split_refusal(split([](TileHandle p) { return graph::reduction(p, 1, 8); }, {.x = 1})),
            "graph g, operator 1 (custom), block operator 0 (input): the accumulators that it reads cannot "
            "be split otherwise: grid axis x "
            "splits the dimension 1 that is to be summed");
}

TEST(Tilings, GoThroughJson) {
  const Tiling t{{0, {4, 2, 1}, {64, 2, 1}, 8}, {2, {1, 1, 1}, {32, 1, 1}, 1}};
  EXPECT_EQ(parse_tiling(to_json(t), "t.json"), t);
  EXPECT_EQ(parse_tiling("{\"name\": \"x\", \"tiling\": " + to_json(t) + "}", "t.json"), t);
  const auto why = [](const char* text) -> std::string {
    try {
      parse_tiling(text, "t.json");
      return "taken";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(why("nonsense"), "t.json: expected JSON, found what is none");
  EXPECT_EQ(why("{}"), "t.json: expected a manifest with a `tiling`, found none");
  EXPECT_EQ(why("[{\"operator\": 0, \"grid\": [1, 2], \"block\": [32, 1, 1], \"loop\": 1}]"),
            "t.json: grid of a tiling: expected three numbers, found [1,2]");
  EXPECT_EQ(why("[{\"operator\": 0, \"grid\": [1, 2, 0], \"block\": [32, 1, 1], \"loop\": 1}]"),
            "t.json: grid: expected an integer of at least 1, found 0");
  EXPECT_EQ(why("[{\"grid\": [1, 2, 0]}]"),
            "t.json: expected the `operator` that a tiling is of, found {\"grid\":[1,2,0]}");
  EXPECT_EQ(why("[{\"operator\": 0, \"tile\": [64, 16, 64], \"threads\": 128, \"swap_ab\": true}]"),
            "t.json: expected one of the keys operator, tile, threads, turned of a tiling, found `swap_ab`");
}

}  // namespace
}  // namespace zellige::retile::test
