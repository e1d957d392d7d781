// The size of emitted code is linear in the number of operators, for any sharing: evaluations and lines are
// counted, not seconds.
#include <gtest/gtest.h>

#include <algorithm>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "run/run.hpp"

namespace zellige {
namespace {

using graph::TileHandle;

int count(const std::string& text, std::string_view what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
  return n;
}
int lines(const std::string& text) { return count(text, "\n"); }

/// One block of (rows, 64), whose body is handed the tile.
graph::KernelGraph block_graph(const std::function<TileHandle(TileHandle)>& body, std::int64_t rows = 8,
                               std::int64_t loop = 1) {
  graph::Builder b("grown");
  const graph::TensorHandle X = b.input("X", {rows, 64 * loop});
  const auto Y = b.custom({.grid = {1}, .block = {128}, .loop = loop}, [&](graph::BlockBuilder& t) {
    const TileHandle y = body(t.load(X, {.loop = loop > 1 ? 1 : -1}));
    t.store(loop > 1 ? accum(y) : y);
  });
  b.output(Y[0], "Y");
  return b.build();
}

std::string text_of(const graph::KernelGraph& g) { return test::transpile(g, target::find("sm_80")).source; }

TileHandle sigmoids(TileHandle x, int n) {
  for (int i = 0; i < n; ++i) x = (x + sigmoid(x)) * 0.5;
  return x;
}

/// A DAG in which each value reads two that came well before it, so that most are read several times.
TileHandle web(TileHandle x, int n) {
  std::vector<TileHandle> all{x, sigmoid(x)};
  for (int i = 0; i < n; ++i) {
    const TileHandle a = all[all.size() - 1], b = all[all.size() / 2], c = all[(i * 7) % all.size()];
    all.push_back(i % 3 == 0 ? sigmoid(a + b) : i % 3 == 1 ? (a - c) * 0.5 : sigmoid(b * c + a));
  }
  return all.back() + all[all.size() / 3];
}

TileHandle norms(TileHandle x, int n) {
  for (int i = 0; i < n; ++i) x = rms_norm(x + x * 0.25);
  return x;
}

/// Each level adds a rotation by half a row: the number of coordinates doubles per level.
TileHandle rotations(TileHandle x, int n) {
  for (int i = 0; i < n; ++i) {
    const auto halves = split(x, 1, {32, 32});
    x = (x + concat(halves[1], halves[0], 1)) * 0.5;
  }
  return x;
}

TEST(Growth, AValueReadTwiceIsEvaluatedOnce) {
  for (std::int64_t loop : {1, 4})
    for (int n : {1, 5, 15, 20, 100}) {
      const std::string text = text_of(block_graph([&](TileHandle x) { return sigmoids(x, n); }, 8, loop));
      EXPECT_EQ(count(text, "zellige::sigmoid("), n);
      EXPECT_LE(lines(text), 100 + 8 * n) << n;
    }
  const std::string squares = text_of(block_graph([](TileHandle x) {
    for (int i = 0; i < 40; ++i) x = sigmoid(x * x);
    return x;
  }));
  EXPECT_EQ(count(squares, "zellige::sigmoid("), 40);
}

TEST(Growth, OfADagIsLinear) {
  const auto sigmoids_in = [](int n) { return (n + 2) / 3 + (n / 3) + 1; };
  for (int n : {30, 300, 1200}) {
    const std::string text = text_of(block_graph([&](TileHandle x) { return web(x, n); }));
    EXPECT_LE(count(text, "zellige::sigmoid("), sigmoids_in(n)) << n;
    EXPECT_GE(count(text, "zellige::sigmoid("), n / 3) << n;  // what is not read is not evaluated
    EXPECT_LE(lines(text), 80 + 6 * n) << n;
    EXPECT_LE(text.size(), 6000u + 400u * static_cast<unsigned>(n)) << n;
  }
}

TEST(Growth, OfSeveralResultsUnderOneGuardIsLinear) {
  for (int n : {20, 80}) {
    graph::Builder b("results");
    const graph::TensorHandle X = b.input("X", {4, 64});
    const auto Y = b.custom({.grid = {1}, .block = {96}}, [&](graph::BlockBuilder& t) {
      TileHandle x = t.load(X);
      for (int i = 0; i < n; ++i) t.store(x = sigmoid(x + x * 0.5));
    });
    for (graph::TensorHandle y : Y) b.output(y);
    EXPECT_EQ(count(text_of(b.build()), "zellige::sigmoid("), n);
  }
}

TEST(Growth, OfChainedNormsIsLinear) {
  const auto grown = [](int n) { return text_of(block_graph([&](TileHandle x) { return norms(x, n); })); };
  const int l25 = lines(grown(25)), l50 = lines(grown(50)), l100 = lines(grown(100));
  EXPECT_LE(l100 - l50, (l50 - l25) * 2 + 100) << l25 << " " << l50 << " " << l100;
  EXPECT_LE(l100, 9000);
}

// A tile that shared memory cannot hold in float32 is evaluated again after all: longer, but planned.
TEST(Growth, WhatHasNoRoomIsEvaluatedAgain) {
  for (std::int64_t rows : {64, 512})
    EXPECT_GT(lines(text_of(block_graph([](TileHandle x) { return norms(x, 20); }, rows))), 500);
  graph::Builder b("wide");
  const graph::TensorHandle X = b.input("X", {64, 1024});
  const auto Y =
      b.custom({.grid = {1}, .block = {128}}, [&](graph::BlockBuilder& t) { t.store(norms(t.load(X), 20)); });
  b.output(Y[0], "Y");
  const emit::EmittedProgram p = test::transpile(b.build(), target::find("sm_80"));
  EXPECT_LE(p.manifest.kernels[0].shared_bytes, 32 * 1024);
}

TEST(Growth, OfManySumsIsLinear) {
  const auto grown = [](int n) {
    graph::Builder b("sums");
    const graph::TensorHandle X = b.input("X", {8, 64});
    const auto Y = b.custom({.grid = {1}, .block = {128}}, [&](graph::BlockBuilder& t) {
      TileHandle x = t.load(X);
      for (int i = 0; i < n; ++i) {
        x = x + sigmoid(x);
        t.store(reduction(x, 1));
      }
    });
    for (graph::TensorHandle y : Y) b.output(y);
    return text_of(b.build());
  };
  const int l50 = lines(grown(50)), l100 = lines(grown(100));
  EXPECT_LE(l100, l50 * 2 + 200) << l50;
  EXPECT_LE(l100, 8000);
}

TEST(Growth, OfShiftedReadsIsLinear) {
  const auto grown = [](int n) { return text_of(block_graph([&](TileHandle x) { return rotations(x, n); })); };
  const int l20 = lines(grown(20)), l40 = lines(grown(40));
  EXPECT_LE(l40, l20 * 2 + 200) << l20 << " " << l40;
  EXPECT_LE(l40, 12000);
}

TEST(Growth, OfAChainOfKernelsIsLinear) {
  for (int n : {200, 20000}) {
    graph::Builder b("chain");
    graph::TensorHandle x = b.input("X", {4, 8});
    for (int i = 0; i < n; ++i) x = relu(x);
    b.output(x, "Y");
    const emit::EmittedProgram p = test::transpile(b.build(), target::find("sm_80"));
    EXPECT_EQ(p.manifest.kernels.size(), static_cast<std::size_t>(n));
    EXPECT_LE(p.source.size(), 3000u * static_cast<unsigned>(n));
    EXPECT_LE(p.manifest.buffer_size, 2 * 256);  // two of them alive at once
  }
}

// Stored and cached values must still be correct.
TEST(Growth, OfLargeGraphsIsRight) {
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  const auto right = [&](const graph::KernelGraph& g) {
    const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = "sm_80", .workers = 1}, cache);
    EXPECT_EQ(r.status, run::Status::correct) << r.reason;
  };
  // g++ takes more than twice as long for a kernel of twice the size.
  const int size = test::all_cases() ? 2 : 1;
  right(block_graph([&](TileHandle x) { return web(x, size * 150); }));
  right(block_graph([&](TileHandle x) { return norms(x, size * 12); }));
  right(block_graph([](TileHandle x) { return rotations(x, 8); }));
  right(block_graph([](TileHandle x) { return norms(rotations(web(x, 30), 6), 10); }, 8, 2));
}

}  // namespace
}  // namespace zellige
