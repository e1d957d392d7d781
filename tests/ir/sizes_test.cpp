// A size that is known at launch, such as a number of rows: kernels with it are lowered, planned, verified and printed, and
// their sources parsed. At both ends of its range they are what the lowering makes of graphs with these constants.
#include "lower/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../thrown.hpp"
#include "../unfused.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "lower/lower.hpp"

namespace zellige::ir {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;
using plan::Blocks;
using test::thrown;
using tile::Size;
using tile::SymbolicNumber;

KernelGraph product(std::int64_t rows) {
  Builder b("rows");
  TensorHandle A = b.input("A", {rows, 512}), B = b.input("B", {512, 256});
  b.output(matmul(A, B), "C");
  return b.build();
}

KernelGraph softmax_of_rows(std::int64_t rows) {
  Builder b("rows");
  b.output(b.custom({.grid = {rows / 8}, .block = {256}},
                    [A = b.input("A", {rows, 512})](graph::BlockBuilder& t) {
                      t.store(softmax(t.load(A, {.x = 0}), 1), {.x = 0});
                    })
               .at(0),
           "C");
  return b.build();
}

const retile::Tiling tiles_of_64{{.op = 0, .product = retile::MatmulTile{.m = 64, .n = 128, .k = 64, .threads = 128}}};

/// T rows of tensor A, the first of each graph.
Size rows(std::int64_t low, std::int64_t high, std::int64_t multiple) {
  return {.name = "T", .low = low, .high = high, .multiple = multiple, .of = {{0, 0}}};
}

plan::Plan planned(const KernelGraph& graph, const char* target, const Size& size, Blocks blocks = Blocks::a_tile) {
  return test::make_plan(graph, target::find(target),
                         {.blocks = {blocks},
                          .tiling = graph.ops[0].kind == graph::OpKind::matmul ? tiles_of_64 : retile::Tiling{},
                          .sizes = {size}});
}

/// Returns what is wrong with a source; "" if nothing is.
std::string mistake(const std::string& text) {
  try {
    verify(parse(text, "x.ir"), "x.ir");
  } catch (const Mistake& e) {
    return e.what();
  }
  return "";
}

/// Returns the source with `b` in place of its first `a`.
std::string edited(std::string text, const std::string& a, const std::string& b) {
  const std::size_t at = text.find(a);
  EXPECT_NE(at, text.npos) << a << " is not in\n" << text;
  return at == text.npos ? text : text.replace(at, a.size(), b);
}

TEST(SymbolicNumber, HasANormalFormThatDecides) {
  const tile::SizeList sizes{rows(64, 8192, 64), {.name = "S", .low = 1, .high = 100}};
  const SymbolicNumber t = SymbolicNumber::of(sizes, 0), s = SymbolicNumber::of(sizes, 1);
  EXPECT_EQ(ceil_div(t, 64) * 64, t);
  EXPECT_EQ((ceil_div(t, 64) * 4).text(), "ceil(T/16)");
  EXPECT_EQ(ceil_div(ceil_div(s, 4), 8), ceil_div(s, 32));
  EXPECT_EQ((ceil_div(s, 64) * 4 + 1).text(), "4*ceil(S/64)+1");
  EXPECT_EQ((t + -1) + (t * -1 + 3), SymbolicNumber(2));
  EXPECT_EQ(ceil_div(s, 64).high(), 2);
  EXPECT_EQ(less_equal(t + 1, t), false);
  EXPECT_EQ(less_equal(t, t + 1), true);
  EXPECT_EQ(less_equal(t, 8192), true);
  EXPECT_EQ(less_equal(t, 63), false);
  EXPECT_EQ(less_equal(t, 4096), std::nullopt);
  EXPECT_EQ(less_equal(ceil_div(s, 64) * 64, s), std::nullopt);  // the last tile may be partial
  EXPECT_EQ(less_equal(s, ceil_div(s, 64) * 64), true);
  EXPECT_EQ((t + s).text(), "S+T");
}

TEST(SymbolicNumber, IsLessOrEqualOnlyIfItIsForAllValues) {
  std::mt19937 random(20);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  int decided = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t multiple = std::int64_t{1} << below(5), low = (1 + below(20)) * multiple;
    const tile::SizeList sizes{rows(low, low + below(30) * multiple, multiple)};
    const std::int64_t c[2] = {below(80) - 40, below(80) - 40}, f[2] = {below(9) - 3, below(9) - 3},
                       d[2] = {1 + below(12), 1 + below(12)};
    SymbolicNumber n[2];
    for (int k = 0; k < 2; ++k) n[k] = ceil_div(SymbolicNumber::of(sizes, 0), d[k]) * f[k] + c[k];
    bool always = true, never = true;
    for (std::int64_t size = low; size <= sizes[0].high; size += multiple) {
      const auto at = [&](int k) { return c[k] + f[k] * tile::ceil_div(size, d[k]); };
      (at(0) <= at(1) ? never : always) = false;
    }
    const std::optional<bool> answer = less_equal(n[0], n[1]);
    if (answer) EXPECT_TRUE(*answer ? always : never) << n[0].text() << ", " << n[1].text();
    decided += answer.has_value() ? 1 : 0;
  }
  EXPECT_GT(decided, 1500);
}

TEST(Sizes, AtTheEndsKernelsAreThoseOfConstants) {
  const target::Target& target = target::find("sm_80");
  for (const std::int64_t multiple : {64, 1})
    for (const auto& graph_of : {product, softmax_of_rows}) {
      const std::int64_t low = multiple == 1 ? 200 : 256, high = 8192;
      const auto lowered = [&](std::int64_t n) {
        const KernelGraph g = graph_of(n);
        const bool is_product = g.ops[0].kind == graph::OpKind::matmul;
        return lower::lower(is_product ? fuse::separate(g, target, tiles_of_64) : g, target);
      };
      tile::TilePrograms p = lowered(high);
      lower::give_size(p, rows(low, high, multiple));
      for (const std::int64_t end : {low, high}) {
        const tile::TilePrograms constant = lowered(end);
        const auto at = [&](const SymbolicNumber& n) { return end == low ? n.low() : n.high(); };
        ASSERT_EQ(constant.kernels.size(), p.kernels.size());
        for (std::size_t t = 0; t < p.tensors.size(); ++t)
          for (int d = 0; d < 2; ++d) EXPECT_EQ(at(p.extent(static_cast<int>(t), d)), constant.tensors[t].shape[d]);
        for (std::size_t k = 0; k < p.kernels.size(); ++k) {
          const tile::TileProgram &of = constant.kernels[k], &with = p.kernels[k];
          const std::vector<SymbolicNumber> grid = with.grid_of(p.sizes);
          for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(at(grid[axis]), of.grid[axis]);
          for (std::size_t n = 0; n < of.nodes.size(); ++n)
            for (int d = 0; d < of.nodes[n].view.rank(); ++d) {
              const tile::Interval a = with.nodes[n].view.along(d, with), b = of.nodes[n].view.along(d, of);
              EXPECT_EQ(at(a.end(p.sizes)), b.end());
              EXPECT_EQ(at(a.tiles(p.sizes)), b.tiles());
              EXPECT_EQ(at(a.reach(p.sizes)), b.reach());
              EXPECT_GE(with.nodes[n].view.predicated(d), of.nodes[n].view.predicated(d));
            }
        }
      }
    }
}

TEST(Sizes, ArePlannedVerifiedAndPrinted) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (const std::int64_t multiple : {64, 1})
      for (const auto& graph_of : {product, softmax_of_rows}) {
        const plan::Plan plan = planned(graph_of(8192), target, rows(64, 8192, multiple));
        const std::string text = print(plan);
        EXPECT_EQ(print(parse(text, "x.ir")), text);
        EXPECT_EQ(mistake(text), "") << text;
        EXPECT_NE(text.find(fmt::format("size T from 64 to 8192{}\n", multiple > 1 ? " multiple 64" : "")), text.npos);
        EXPECT_NE(text.find("gmem gA \"A\" f16 (T,512):(512,1)"), text.npos) << text;
        EXPECT_EQ(text.find("8192,"), text.npos) << text;  // no extent is a constant
        for (const kernel::Kernel& k : plan.kernels) {
          const bool exact = multiple % k.program.nodes[0].view.tile(0) == 0;
          EXPECT_EQ(k.program.nodes[0].view.predicated(0), !exact) << text;
        }
      }
}

TEST(Sizes, OfAProductPrintAsThis) {
  const std::string text = print(planned(product(8192), "sm_80", rows(64, 8192, 64)));
  const auto line = [&](const std::string& begin) {
    const std::size_t at = text.find(begin);
    return at == text.npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line("kernel rows_k0").substr(0, 34), "kernel rows_k0 grid (2,ceil(T/64),");
  EXPECT_EQ(line("view (by"), "view (by, -) -> (128,_1,_64):(_64,_0,_1) from 0 to T");
  EXPECT_EQ(line("gmem gC"), "gmem gC \"C\" f16 (T,256):(256,1)");
}

TEST(Sizes, WhatIsWrongForSomeValuesIsRefused) {
  const std::string good = print(planned(product(8192), "sm_80", rows(64, 8192, 64)));
  EXPECT_EQ(mistake(good), "");
  EXPECT_EQ(
      mistake(edited(good, "multiple 64", "multiple 32")),
      "x.ir:11:5: rows_k0: the tiles of load A reach element 64*ceil(T/64) of dimension 0, which has T, and nothing "
      "guards them");
  EXPECT_EQ(mistake(edited(good, "ceil(T/64)", "128")), "x.ir:9:1: its tiles make a grid of (2,ceil(T/64),1)");
  EXPECT_EQ(mistake(edited(good, "ceil(T/64)", "ceil(T/16)")),
            "x.ir:12:23: the tiles of this grid and loop lie as (512,_1,_64):(_64,_0,_1), or as the like");
  EXPECT_EQ(mistake(edited(good, "(128,_1,_64):(_64,_0,_1) from 0 to T", "(_128,_1,_64):(_64,_0,_1) from 0 to 8192")),
            "x.ir:11:5: rows_k0: load A ends at 8192 of dimension 0, which has T elements");
  EXPECT_EQ(mistake(edited(good, "gA \"A\" f16 (T,512):(512,1)", "gA \"A\" f16 (T,512):(1,8192)")),
            "x.ir:34:7: rows_k0: 'copy in %0' copies 8 neighbours along dimension 1; those of A are along 0");
  EXPECT_EQ(mistake(edited(good, "(T,512)", "(U,512)")),
            "x.ir:3:18: expected an integer, or a size that a line before names, found U");
  EXPECT_EQ(mistake(edited(good, "(T,512)", "(T-64,512)")), "x.ir:3:17: an extent is 1 or more for all sizes");
  EXPECT_EQ(mistake(edited(good, "from 64 to", "from 65 to")),
            "x.ir:2:33: a size has multiples of a number from 1 on, the first not above the last");
  EXPECT_EQ(thrown([] { planned(product(8192), "sm_90a", rows(64, 8192, 64), Blocks::persistent); }),
            "rows_k0: a block takes several tiles, of a grid of (2,ceil(T/64),1)");
}

TEST(Sizes, AreEmittedAsParameters) {
  const std::string text = print(planned(product(8192), "sm_80", rows(64, 8192, 8)));
  const emit::EmittedProgram p = compile(text, "x.ir").program;
  EXPECT_NE(p.source.find("// Grid 2 x ceil(T/64) x 1, "), p.source.npos) << p.source;
  EXPECT_NE(p.source.find("gmem<half_t> pC, [[maybe_unused]] int nT) {"), p.source.npos) << p.source;
  EXPECT_EQ(p.manifest.sized.at({manifest::SizedField::grid, 0, 0, 1}).text(p.manifest.sizes), "ceil(T/64)");
  EXPECT_EQ(p.manifest.kernels[0].grid.y, 128);
}

TEST(Sizes, ThatAKernelNeedsAsConstantsAreRefused) {
  const target::Target& target = target::find("sm_80");
  const auto given = [&](const KernelGraph& g, std::vector<std::pair<int, int>> of) {
    tile::TilePrograms p = lower::lower(fuse::separate(g, target), target);
    return thrown([&] { lower::give_size(p, {.name = "T", .low = 1, .high = 512, .of = of}); });
  };
  EXPECT_EQ(given(product(8192), {{0, 1}}), "rows_k0: dimension 0 of B is T, too");  // K
  EXPECT_EQ(given(softmax_of_rows(64), {{0, 1}}), "");
  EXPECT_EQ(given(product(8192), {{0, 0}}), "rows_k0: T is 512, and dimension 0 of A is not");
  Builder two("two"), view("view");
  const TensorHandle A = two.input("A", {512, 64}), B = two.input("B", {512, 64});
  two.output(two.custom({.grid = {64}, .block = {256}},
                        [&](graph::BlockBuilder& t) { t.store(t.load(A, {.x = 0}) + t.load(B, {.x = 0}), {.x = 0}); })
                 .at(0),
             "C");
  EXPECT_EQ(given(two.build(), {{0, 0}}), "two_k0: dimension 0 of B is T, too");
  view.output(relu(permute(view.input("A", {512, 64}), {1, 0})), "C");
  EXPECT_EQ(given(view.build(), {{0, 0}}), "");
}

}  // namespace
}  // namespace zellige::ir
