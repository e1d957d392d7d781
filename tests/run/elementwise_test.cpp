// Every elementwise operator as a separate kernel and inside a block, at special values: NaN, infinities,
// zeros of either sign, denormals, the limits of f16, and arguments where functions saturate.
#include "graph/elementwise.hpp"

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/ops.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::OpKind;
using graph::TensorHandle;
using graph::TileHandle;

constexpr double inf = std::numeric_limits<double>::infinity();
const std::vector<double> special = {0.0, -0.0, 1,   -1,      2,  -0.5, 65504, -65504, 0x1p-24,  -0x1p-24,
                                     inf, -inf, NAN, 0x1p-14, 10, -10,  88,    -88,    3.140625, 1e4};

/// Operand k of a grid of all pairs of special values.
reference::Array grid(int k) {
  const auto n = static_cast<std::int64_t>(special.size());
  reference::Array a = reference::make_array({n, n});
  for (std::int64_t i = 0; i < n * n; ++i)
    a.values[static_cast<std::size_t>(i)] = special[static_cast<std::size_t>(k == 0   ? i / n
                                                                             : k == 1 ? i % n
                                                                                      : (i / n + i % n) % n)];
  return a;
}

template <class Level>
std::vector<graph::Handle<Level>> all_of(const std::vector<graph::Handle<Level>>& x) {
  std::vector<graph::Handle<Level>> made;
  for (OpKind kind : graph::all_ops()) {
    if (!graph::is_elementwise(kind)) continue;
    const graph::Elementwise& row = graph::elementwise(kind);
    const graph::Attributes a{.scalar = 1, .lo = -0.5, .hi = 1.5};
    std::vector<graph::Handle<Level>> in(x.begin(), x.begin() + row.operands);
    made.push_back(graph::append<Level>(kind, in, a)[0]);
    in.pop_back();
    if (row.scalar) made.push_back(graph::append<Level>(kind, in, a)[0]);
  }
  return made;
}

class SpecialValues : public testing::TestWithParam<DType> {};

TEST_P(SpecialValues, AreTheReferences) {
  const auto n = static_cast<std::int64_t>(special.size());
  graph::Builder b("special");
  std::vector<TensorHandle> x;
  for (int k = 0; k < 3; ++k) x.push_back(b.input(fmt::format("X{}", k), {n, n}, GetParam()));
  int count = 0;
  for (TensorHandle t : all_of<graph::KernelLevel>(x)) b.output(t, fmt::format("kernel{}", count++));
  // In a block every operator reads the same tiles.
  const auto results = b.custom({.grid = {2}, .block = {64}}, [&](graph::BlockBuilder& t) {
    std::vector<TileHandle> tiles;
    for (TensorHandle whole : x) tiles.push_back(t.load(whole, {.x = 0}));
    for (TileHandle y : all_of<graph::BlockLevel>(tiles)) t.store(y, {.x = 0});
  });
  count = 0;
  for (TensorHandle t : results) b.output(t, fmt::format("block{}", count++));
  EXPECT_GE(count, 40);
  const graph::Format f = graph::format(GetParam());
  const bool wide = GetParam() == DType::f32;
  expect_as_reference(b.build(), {grid(0), grid(1), grid(2)}, wide ? 1e-5 : std::ldexp(1.0, -f.mantissa),
                      wide ? 1e-37 : std::ldexp(f.min_normal, -f.mantissa));
}

INSTANTIATE_TEST_SUITE_P(DTypes, SpecialValues,
                         testing::Values(DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace zellige::run
