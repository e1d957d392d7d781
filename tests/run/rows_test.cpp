// gather, scatter and slice_scatter as kernels, with separate results and in the memory of an input.
#include "graph/rows.hpp"

#include <random>

#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "failing.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "run/npy.hpp"
#include "system/files.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using reference::Array;

class Rows : public testing::TestWithParam<DType> {
 protected:
  Array random(const Shape& shape) {
    Array a = reference::make_array(shape);
    std::uniform_real_distribution<double> uniform(-100, 100);
    for (double& v : a.values) v = graph::round_to(GetParam(), uniform(engine_));
    return a;
  }
  /// Numbers below `bound`, each once where there are no more.
  Array numbers(const Shape& shape, std::int64_t bound) {
    Array a = reference::make_array(shape);
    for (std::size_t i = 0; i < a.values.size(); ++i)
      a.values[i] = static_cast<double>((static_cast<std::int64_t>(i) * 5 + 3) % bound);
    return a;
  }
  std::mt19937 engine_{7};
};

TEST_P(Rows, Gathered) {
  for (const Shape& table : {Shape{37, 64}, Shape{13, 33}, Shape{101}, Shape{9, 3, 40}, Shape{6, 1}}) {
    graph::Builder b("gathered");
    const TensorHandle X = b.input("X", table, GetParam()), I = b.input("I", {29}, DType::int32),
                       J = b.input("J", {3, 5}, DType::int32, {1, 3});  // which lie in no row
    b.output(gather(X, I), "one");
    b.output(gather(X, J), "two");
    b.output(gather(slice(X, 0, 2, 6), minimum(I, 3.0)), "computed");
    b.output(cast(gather(X, I + 1.0 - 1.0), DType::f32), "read_on");
    if (table.size() == 2) b.output(gather(permute(X, {1, 0}), minimum(I, 0.0)), "columns");
    expect_as_reference(b.build(), {random(table), numbers({29}, table[0]), numbers({3, 5}, table[0])}, 0, 0);
  }
}

// In a block: of a tile that the grid cuts across, by numbers that grid or loop cuts.
TEST_P(Rows, GatheredInBlocks) {
  for (const char* target : {"sm_80", "sm_90a"}) {
    graph::Builder b("blocks");
    const TensorHandle X = b.input("X", {37, 64}, GetParam()), I = b.input("I", {30}, DType::int32),
                       T = b.input("T", {9, 3, 40}, GetParam(), {1, 360, 9}), J = b.input("J", {8}, DType::int32);
    const auto rows = b.custom({.grid = {2, 5}, .block = {64}}, [&](graph::BlockBuilder& t) {
      t.store(gather(t.load(X, {.x = 1}), t.load(I, {.y = 0})), {.x = 1, .y = 0});
    });
    b.output(rows[0], "rows");
    const auto sums = b.custom({.grid = {2}, .block = {64}, .loop = 5}, [&](graph::BlockBuilder& t) {
      const graph::TileHandle x = t.load(X, {.x = 1}), y = gather(x, t.load(I, {.loop = 0}));
      t.store(accum(y + y), {.x = 1});
      t.store(x, {.x = 1});
    });
    b.output(sums[0], "sums");
    b.output(sums[1], "second");
    const auto planes = b.custom({.grid = {4}, .block = {64}}, [&](graph::BlockBuilder& t) {
      t.store(permute(gather(t.load(T), t.load(J, {.x = 0})), {2, 0, 1}), {.x = 1});
      t.store(maximum(permute(gather(t.load(T), t.load(J, {.x = 0})), {1, 0, 2}), 0.0), {.x = 1});
    });
    b.output(planes[0], "planes");
    b.output(planes[1], "computed");
    const graph::Format f = graph::format(GetParam());
    const double step = f.integer_bits ? 0 : std::max(std::ldexp(1.0, -f.mantissa), 1e-4);
    expect_as_reference(b.build(), {random({37, 64}), numbers({30}, 37), random({9, 3, 40}), numbers({8}, 9)}, step,
                        step, target);
  }
}

// Pages of a cache: attention over keys and values that numbers name.
TEST(RowsInAttention, OfPages) {
  for (const char* target : {"sm_80", "sm_90a"}) {
    graph::Builder b("pages");
    const TensorHandle Q = b.input("Q", {16, 32}), K = b.input("K", {50, 32}), V = b.input("V", {50, 32}),
                       I = b.input("I", {36}, DType::int32);
    const auto made = b.custom({.block = {128}, .loop = 3}, [&](graph::BlockBuilder& t) {
      const graph::TileHandle n = t.load(I, {.loop = 0});
      const graph::TileHandle s = matmul(t.load(Q), permute(gather(t.load(K), n), {1, 0})) * 0.125;
      const auto [m, fell] = graph::reduction_max(s, 1);
      const graph::TileHandle p = exp(s - m), r = exp(fell);
      t.store(accum_rescale(matmul(p, gather(t.load(V), n)), r) / accum_red_sum_rescale(p, r));
    });
    b.output(made[0], "paged");
    b.output(matmul(softmax(matmul(Q, permute(gather(K, I), {1, 0})) * 0.125, 1), gather(V, I)), "plain");
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> uniform(-2, 2);
    const auto random = [&](const Shape& shape) {
      Array a = reference::make_array(shape);
      for (double& v : a.values) v = graph::round_to(DType::f16, uniform(engine));
      return a;
    };
    Array numbers = reference::make_array({36});
    for (std::size_t i = 0; i < 36; ++i) numbers.values[i] = static_cast<double>((i * 7 + 11) % 50);
    const auto y = emulate_graph(b.build(), {random({16, 32}), random({50, 32}), random({50, 32}), numbers}, target);
    for (std::size_t i = 0; i < y[0].size(); ++i) ASSERT_NEAR(y[0][i], y[1][i], 4e-3) << target << " " << i;
  }
}

TEST(RowsInBlocks, OfWhatIsComputedAreRefused) {
  graph::Builder b("g");
  const TensorHandle X = b.input("X", {8, 4}), I = b.input("I", {8}, DType::int32);
  b.output(b.custom({.block = {32}},
                    [&](graph::BlockBuilder& t) { t.store(gather(exp(t.load(X, {}, "x")), t.load(I, {}, "i"))); })[0]);
  EXPECT_EQ(message_of([&] { test::transpile(b.build(), target::find("sm_80")); }),
            "g_k0: inside a block gather reads rows of what is loaded by one dimension of numbers that are loaded, "
            "found s2 (8, 4) and i (8): gather outside");
}

TEST_P(Rows, Scattered) {
  for (const Shape& table : {Shape{37, 64}, Shape{43, 33}, Shape{101}, Shape{19, 3, 40}}) {
    Shape one = table, two = table;
    one[0] = 7;
    two[0] = 2, two.insert(two.begin() + 1, 3);
    graph::Builder b("scattered");
    const TensorHandle X = b.input("X", table, GetParam()), I = b.input("I", {7}, DType::int32),
                       J = b.input("J", {2, 3}, DType::int32), U = b.input("U", one, GetParam()),
                       V = b.input("V", two, GetParam());
    b.output(scatter(scatter(X, I, U), J, V), "both");
    b.output(scatter(X, J, V), "matrix");
    expect_as_reference(
        b.build(), {random(table), numbers({7}, table[0]), numbers({2, 3}, table[0]), random(one), random(two)}, 0, 0);
  }
}

TEST_P(Rows, PartsOfADimension) {
  for (int dim = 0; dim < 3; ++dim) {
    Shape part{6, 20, 24};
    part[static_cast<std::size_t>(dim)] = 5;
    graph::Builder b("parts");
    const TensorHandle X = b.input("X", {6, 20, 24}, GetParam()), P = b.input("P", part, GetParam()),
                       S = b.input("S", {1}, DType::int32);
    b.output(slice_scatter(X, P, dim, 1), "explicit");
    b.output(slice_scatter(X, P, dim, S), "computed");
    expect_as_reference(b.build(), {random({6, 20, 24}), random(part), {{1}, {1}}}, 0, 0);
  }
}

TEST_P(Rows, InTheMemoryOfAnInput) {
  graph::Builder b("cache");
  const TensorHandle K = b.input("K", {32, 40}, GetParam(), {48, 1}), I = b.input("I", {3}, DType::int32),
                     U = b.input("U", {3, 40}, GetParam()), P = b.input("P", {2, 40}, GetParam()),
                     S = b.input("S", {1}, DType::int32);
  const TensorHandle first = b.in_place(scatter(K, I, U), K), second = b.in_place(slice_scatter(first, P, 0, S), K);
  b.output(second, "cache");
  b.output(cast(K, DType::f32), "old");  // declared last, and read first
  b.output(cast(permute(first, {1, 0}), DType::f32), "between");
  b.output(gather(second, I), "new");
  const graph::KernelGraph g = b.build();
  const emit::EmittedProgram p = test::transpile(g, target::find("sm_80"));
  int taken = 0;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    if (t.memory >= 0) {
      ++taken;
      EXPECT_EQ(t.name, "cache");
      EXPECT_EQ(p.manifest.tensors[static_cast<std::size_t>(t.memory)].name, "K");
    }
  EXPECT_EQ(taken, 1);
  EXPECT_NE(p.source.find("/// Output cache is input K, changed; outputs[0] is not looked at."), std::string::npos);
  EXPECT_NE(manifest::to_json(p.manifest).find("\"memory\": \"K\""), std::string::npos);
  EXPECT_EQ(p.manifest.buffer_size, 0);
  expect_as_reference(g, {random({32, 40}), {{3}, {5, 31, 0}}, random({3, 40}), random({2, 40}), {{1}, {7}}}, 0, 0);
}

INSTANTIATE_TEST_SUITE_P(DTypes, Rows, testing::Values(DType::f16, DType::f32, DType::e4m3, DType::int8),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

TEST(RowsOfNoNumber, AreRefusedInAnInputThatIsGiven) {
  graph::Builder b("given");
  const TensorHandle X = b.input("X", {5, 8}), I = b.input("I", {2, 2}, DType::int32), U = b.input("U", {2, 2, 8});
  b.output(gather(X, I), "G");
  b.output(scatter(X, I, U), "S");
  const graph::KernelGraph g = b.build();
  const Folder folder;
  const std::string file = (folder / "I.npy").string();
  const auto refused = [&](const std::vector<double>& numbers) {
    system::write_whole(file, npy(DType::int32, {2, 2}, numbers));
    return message_of([&] { given_inputs(g, {{"I", file}}); });
  };
  EXPECT_EQ(refused({0, 5, 1, 2}), file + ": input I of graph given holds row indices from 0 to 4, found 5 at (0, 1)");
  EXPECT_EQ(refused({0, 1, -1, 2}),
            file + ": input I of graph given holds row indices from 0 to 4, found -1 at (1, 0)");
  EXPECT_EQ(refused({0, 1, 3, 1}), file +
                                       ": input I of graph given holds row indices that are written, "
                                       "each once, found 1 again at (1, 1)");
  system::write_whole(file, npy(DType::int32, {2, 2}, {4, 0, 3, 1}));
  EXPECT_EQ(given_inputs(g, {{"I", file}})[1]->values, (std::vector<double>{4, 0, 3, 1}));
}

/// Indices that the reference refuses are clamped to the nearest row by a kernel.
TEST(RowsOfNoNumber, AreTheNearest) {
  graph::Builder b("outside");
  const TensorHandle X = b.input("X", {5, 8}, DType::f32), I = b.input("I", {4}, DType::int32);
  b.output(gather(X, I), "Y");
  Array x = reference::make_array({5, 8});
  for (std::size_t i = 0; i < 40; ++i) x.values[i] = static_cast<double>(i);
  const auto y = emulate_graph(b.build(), {x, {{4}, {-3, 5, 2147483647, -2147483648.0}}}, "sm_90a");
  const std::vector<int> rows{0, 4, 4, 0};
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(y[0][i], rows[i / 8] * 8.0 + static_cast<double>(i % 8));
}

}  // namespace
}  // namespace zellige::run
