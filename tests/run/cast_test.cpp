// Casts between all dtypes, integers, and matmuls of e4m3 and e5m2, as separate kernels and inside blocks.
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::OpKind;
using graph::TensorHandle;
using graph::TileHandle;
using reference::Array;

/// All numbers of 8 bits; of more bits a walk through the bit patterns, with all that is special among them.
std::vector<double> numbers(DType dtype, std::size_t count) {
  std::vector<double> x;
  const auto bits = static_cast<std::uint32_t>(graph::bits(dtype));
  for (std::uint32_t i = 0; x.size() < count; ++i) {
    static const std::vector<double> special = {
        0.0,        -0.0,          448,       464,      -464,     465,     480,      57344,   61439,
        61440,      -61440,        65504,     65520,    127.9,    128,     -128,     -128.5,  -129,
        2147483647, -2147483648.0, 3e9,       16777217, 25231361, 0x1p-10, 0x1.8p-9, 0x1p-17, 0x1.8p-16,
        0x1p-24,    INFINITY,      -INFINITY, NAN,      0.1,      1.5,     -2.5,     1e-40};
    if (bits == 8)
      x.push_back(graph::from_bits(dtype, i & 255));
    else if (dtype == DType::f64 && i >= special.size())
      x.push_back(graph::from_bits(dtype, i * 0x9e3779b97f4a7c15u));
    else
      x.push_back(i < special.size() ? graph::round_to(dtype, special[i])
                                     : graph::from_bits(dtype, (i * 0x9e3779b1u) >> (32 - bits)));
  }
  for (double& v : x)
    if (v != v) v = NAN;  // whatever bits it had: some mean "never written"
  return x;
}

/// The dtypes that kernels store.
std::vector<DType> stored_dtypes() {
  std::vector<DType> all = graph::all_dtypes();
  std::erase_if(all, graph::is_weight_only);
  return all;
}

class Casts : public testing::TestWithParam<DType> {};

TEST_P(Casts, AreTheReferences) {
  graph::Builder b("casts");
  const graph::Shape shape{16, 24};
  const TensorHandle X = b.input("X", shape, GetParam());
  int count = 0;
  const auto outputs = [&](const std::vector<TensorHandle>& all) {
    for (TensorHandle t : all) b.output(t, fmt::format("Y{}", count++));
  };
  std::vector<TensorHandle> whole;
  for (DType to : stored_dtypes())
    for (bool saturate : {false, true}) whole.push_back(cast(X, to, saturate));
  outputs(whole);
  outputs(b.custom({.grid = {4}, .block = {64}}, [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(X, {.x = 0});
    for (DType to : stored_dtypes())
      for (bool saturate : {false, true}) t.store(cast(x, to, saturate), {.x = 0});
    t.store(cast(cast(x, DType::int8), DType::f32), {.x = 0});  // rounded on the way, though nothing is stored
    t.store(cast(cast(x, DType::e4m3), DType::f32), {.x = 0});
  }));
  expect_as_reference(b.build(), {{shape, numbers(GetParam(), 16 * 24)}}, 0, 0);
}

INSTANTIATE_TEST_SUITE_P(DTypes, Casts, testing::ValuesIn(stored_dtypes()),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

class IntegerKernels : public testing::TestWithParam<DType> {};

TEST_P(IntegerKernels, AreTheReferences) {
  const std::int64_t n = 18;
  const double greatest = graph::format(GetParam()).greatest;
  std::vector<double> special = {0, 1, -1, 2, 3, -7, 100, -100, greatest, greatest - 1, -greatest, -greatest - 1};
  for (double x : {16777217.0, -16777217.0, 65536.0, 46341.0, 1e9, -2e9})
    special.push_back(graph::round_to(GetParam(), x));
  std::vector<Array> in;
  for (int k = 0; k < 3; ++k) {
    in.push_back(reference::make_array({n, n}));
    for (std::int64_t i = 0; i < n * n; ++i)
      in.back().values[static_cast<std::size_t>(i)] = special[static_cast<std::size_t>(k == 0   ? i / n
                                                                                       : k == 1 ? i % n
                                                                                                : (i / n + i) % n)];
  }
  graph::Builder b("integers");
  std::vector<TensorHandle> x;
  for (int k = 0; k < 3; ++k) x.push_back(b.input(fmt::format("X{}", k), {n, n}, GetParam()));
  const auto all_of = [&](auto handles) {
    std::vector<typename decltype(handles)::value_type> made;
    for (OpKind kind : graph::all_ops()) {
      if (!graph::is_elementwise(kind) || graph::elementwise(kind).integers.empty()) continue;
      const graph::Elementwise& row = graph::elementwise(kind);
      const graph::Attributes a{.scalar = -3, .lo = -5, .hi = 9};
      auto some = handles;
      some.resize(static_cast<std::size_t>(row.operands));
      made.push_back(graph::append(kind, some, a)[0]);
      some.pop_back();
      if (row.scalar) made.push_back(graph::append(kind, some, a)[0]);
    }
    return made;
  };
  int count = 0;
  for (TensorHandle t : all_of(x)) b.output(t, fmt::format("kernel{}", count++));
  EXPECT_GE(count, 25);
  b.output(concat(permute(x[0], {1, 0}), slice(x[1], 0, 3, 9), 0), "views");
  const auto results = b.custom({.grid = {2}, .block = {64}}, [&](graph::BlockBuilder& t) {
    std::vector<TileHandle> tiles;
    for (TensorHandle whole : x) tiles.push_back(t.load(whole, {.x = 0}));
    for (TileHandle y : all_of(tiles)) t.store(y, {.x = 0});
    // Compared and selected after wrapping, and concatenated.
    t.store(maximum(tiles[0] + tiles[1], tiles[2] * tiles[2]), {.x = 0});
    t.store(graph::split(concat(tiles[0] + tiles[1], tiles[2], 1), 1, {7, 2 * n - 7})[1], {.x = 0});
  });
  for (TensorHandle t : results) b.output(t, fmt::format("block{}", count++));
  expect_as_reference(b.build(), in, 0, 0);
}

INSTANTIATE_TEST_SUITE_P(DTypes, IntegerKernels, testing::Values(DType::int8, DType::int32),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

class NarrowProducts : public testing::TestWithParam<DType> {};

/// Against explicit loops: the products of such numbers are exact in float64.
TEST_P(NarrowProducts, AreSumsInFloat32) {
  const std::int64_t m = 48, k = 80, n = 40;
  std::mt19937 engine(1);
  const auto random = [&](graph::Shape shape) {
    Array a = reference::make_array(std::move(shape));
    for (double& v : a.values) v = graph::round_to(GetParam(), std::uniform_real_distribution<double>(-4, 4)(engine));
    return a;
  };
  const Array a = random({m, k}), b = random({k, n}), s = random({1, n});
  graph::Builder g("narrow");
  const TensorHandle A = g.input("A", {m, k}, GetParam()), B = g.input("B", {k, n}, GetParam()),
                     S = g.input("S", {1, n}, DType::f32);
  const TensorHandle C = matmul(A, B);
  EXPECT_EQ(C.dtype(), DType::f32);
  g.output(C, "C");
  g.output(cast(C * S, DType::bf16), "scaled");
  const auto blocks = g.custom({.grid = {3, 1, 1}, .block = {64}, .loop = 5}, [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(A, {.x = 0, .loop = 1}), y = t.load(B, {.loop = 0}), scale = t.load(S);
    const TileHandle sum = accum(matmul(x, y));
    t.store(cast(sum * scale, DType::bf16), {.x = 0});
    t.store(accum(matmul(cast(cast(x, DType::f32) * 0.25, GetParam()), y)), {.x = 0});
  });
  g.output(blocks[0], "block");
  g.output(blocks[1], "of_computed");
  const graph::KernelGraph whole = g.build();
  expect_as_reference(whole, {a, b, s}, 0x1p-7, 1e-4);
  const std::vector<Array> found = reference::run_reference(whole, {a, b, s});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += a.values[static_cast<std::size_t>(i * k + p)] * b.values[static_cast<std::size_t>(p * n + j)];
      const auto at = static_cast<std::size_t>(i * n + j);
      ASSERT_EQ(found[0].values[at], static_cast<double>(static_cast<float>(sum)));
      ASSERT_EQ(found[1].values[at],
                graph::round_to(DType::bf16, graph::round_to(DType::f32, found[0].values[at] *
                                                                             s.values[static_cast<std::size_t>(j)])));
    }
}

INSTANTIATE_TEST_SUITE_P(DTypes, NarrowProducts, testing::Values(DType::e4m3, DType::e5m2),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace zellige::run
