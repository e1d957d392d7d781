// Weights of 4 and 8 bits (int4, uint4, e2m1, e8m0) on the emulator: casts of all bit patterns, tiles along and across their
// bytes, and linear layers whose weights are widened in the kernel of the product.
#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "kernel/widened.hpp"
#include "plan/plan.hpp"
#include "predict/predict.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;
using reference::Array;

constexpr DType packed_types[] = {DType::int4, DType::uint4, DType::e2m1, DType::e8m0};

/// Numbers of the dtype, with all bit patterns among the first 256.
Array weights(const Shape& shape, DType dtype, std::uint32_t salt = 0) {
  Array a = reference::make_array(shape);
  const std::uint32_t patterns = 1u << graph::bits(dtype);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const auto n = static_cast<std::uint32_t>(i);
    a.values[i] = graph::from_bits(dtype, (n < 256 ? n : (n * 2654435761u + salt) >> 16) % patterns);
    if (a.values[i] != a.values[i]) a.values[i] = NAN;
  }
  return a;
}

/// Scales that are powers of two from 1/8 to 1.
Array scales(const Shape& shape) {
  Array a = reference::make_array(shape);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = std::ldexp(1.0, -static_cast<int>((i * 2654435761u >> 8) % 4));
  return a;
}

class PackedTypes : public testing::TestWithParam<DType> {};

TEST_P(PackedTypes, AreReadInEachLayoutAndTile) {
  const Shape shape{12, 48};
  graph::Builder b("packed");
  const TensorHandle W = b.input("W", shape, GetParam());
  b.output(cast(W, DType::f32), "whole");
  b.output(cast(permute(W, {1, 0}), DType::bf16), "transposed");
  b.output(cast(reshape(W, {4, 3, 48}), DType::f32), "split");
  const auto tiles = b.custom({.grid = {3}, .block = {64}, .loop = 2}, [&](graph::BlockBuilder& t) {
    const TileHandle x = cast(t.load(W, {.x = 0, .loop = 1}), DType::f32);
    t.store(accum_red_sum(clamp(x, -64, 64)), {.x = 0});
  });
  b.output(tiles[0], "sums");
  const auto parts = b.custom({.grid = {2}, .block = {64}}, [&](graph::BlockBuilder& t) {
    t.store(cast(t.load(W, {.x = 1}), DType::f32), {.x = 1});
  });
  b.output(parts[0], "parts");
  expect_as_reference(b.build(), {weights(shape, GetParam())}, 1e-6, 0);  // sums of e8m0 are rounded
}

TEST_P(PackedTypes, AreStoredTwoInAByteOrOne) {
  manifest::TensorPlace t{.name = "w", .dtype = GetParam(), .shape = {4, 64}, .strides = {64, 1}};
  t.bytes = graph::bytes_of(256, GetParam());
  const Array a = weights({4, 64}, GetParam());
  const Bytes bytes = pack(t, a.values);
  EXPECT_EQ(std::ssize(bytes), 256 * graph::bits(GetParam()) / 8);
  EXPECT_EQ(bytes[0], std::byte(graph::bits(GetParam()) == 4 ? 0x10 : 0x00));  // element 0 is the lower half
  const std::vector<double> back = unpack(t, bytes);
  for (std::size_t i = 0; i < back.size(); ++i)
    EXPECT_TRUE(back[i] == a.values[i] || (back[i] != back[i] && a.values[i] != a.values[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(DTypes, PackedTypes, testing::ValuesIn(packed_types),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

/// A linear layer: rows, columns, K and elements of a group (0: one scale for each row).
struct Layer {
  DType weight, activation;
  std::int64_t m, n, k, group;
  bool zero, bias = false;
};

/// Returns the layer's graph, and inputs of it.
std::pair<graph::KernelGraph, std::vector<Array>> layer_of(const Layer& l) {
  graph::Builder b("layer");
  const bool groups = l.group > 0;
  const Shape per = groups ? Shape{l.n, l.k / l.group, 1} : Shape{l.n, 1};
  const TensorHandle X = b.input("X", {l.m, l.k}, l.activation), W = b.input("W", {l.n, l.k}, l.weight),
                     S = b.input("S", per, l.activation);
  std::vector<Array> inputs{integers({l.m, l.k}, 1), weights({l.n, l.k}, l.weight), scales(per)};
  for (double& v : inputs[1].values) v = v != v ? 0 : std::clamp(v, -8.0, 15.0);
  graph::round_to(l.weight, inputs[1].values.data(), std::ssize(inputs[1].values));
  TensorHandle w = cast(W, l.activation);
  if (groups) w = reshape(w, {l.n, l.k / l.group, l.group});
  if (l.zero) {
    w = w - b.input("Z", per, l.activation);
    inputs.push_back(integers(per, 5));
  }
  w = w * S;
  if (l.bias) {
    w = w + b.input("B", per, l.activation);
    inputs.push_back(integers(per, 5));
  }
  if (groups) w = reshape(w, {l.n, l.k});
  b.output(matmul(X, permute(w, {1, 0})), "Y");
  return {b.build(), std::move(inputs)};
}

/// Returns what the emulator computes of the graph, and expects the counters that are predicted of its kernel.
std::vector<double> emulate_counted(const graph::KernelGraph& g, const std::vector<Array>& inputs, const char* target) {
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  const emit::EmittedProgram p = test::transpile(g, target::find(target));
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p, storage, cache, 2);
  for (const auto& f : r.findings) ADD_FAILURE() << target << ": " << f.message;
  for (const auto& [counter, n] : predict::predict(p.plan.kernels[0]))
    EXPECT_EQ(n, r.kernels[0].counters[counter]) << target << ": " << emulate::name(counter);
  for (std::size_t t = 0; t < storage.size(); ++t)
    if (p.manifest.tensors[t].role == manifest::Role::output) return unpack(p.manifest.tensors[t], storage[t]);
  return {};
}

/// Expects that the layer is one kernel for the target, which computes what the reference does. Returns its graph.
graph::KernelGraph expect_one_kernel(const Layer& l, const char* target) {
  const auto& [g, inputs] = layer_of(l);
  fuse::Optimized o = fuse::optimize(g, target::find(target));
  EXPECT_EQ(o.kernels.size(), 1u) << target;
  const std::vector<Array> expected = reference::run_reference(g, inputs);
  const std::vector<double> found = emulate_counted(o.graph, inputs, target);
  const double step = std::ldexp(1.0, -graph::format(l.activation).mantissa);
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    wrong += !(std::fabs(found[i] - expected[0].values[i]) <= step * std::fabs(expected[0].values[i]) + 1e-3);
  EXPECT_EQ(wrong, 0) << target;
  return std::move(o.graph);
}

class WidenedLayers : public testing::TestWithParam<Layer> {};

TEST_P(WidenedLayers, AreOneKernelAndTheReferences) {
  for (const char* target : {"sm_80", "sm_90a"}) expect_one_kernel(GetParam(), target);
}

class LayersInRegisters : public testing::TestWithParam<Layer> {};

/// The steps of the consumer's loop, each by its name in .ir; of work the kind.
std::vector<std::string> steps_of_loop(const kernel::Kernel& k) {
  std::vector<std::string> names;
  for (const kernel::Step& step : k.agents.at(0).steps)
    if (const kernel::Loop* loop = kernel::as<kernel::Loop>(step); loop && loop->from > 0)
      for (const kernel::Step& s : loop->body)
        names.emplace_back(s.work.node < 0 ? kernel::name(s) : kernel::name(s.work.kind));
  return names;
}

TEST_P(LayersInRegisters, AreWidenedByAnItemOfTheSchedule) {
  const graph::KernelGraph g = expect_one_kernel(GetParam(), "sm_90a");
  const plan::Plan plan = plan::make_plan(g, target::find("sm_90a"));
  const kernel::Kernel& k = plan.kernels[0];
  EXPECT_TRUE(kernel::find_work(k, [](const kernel::Work& w) { return w.matmul.chained(); }));
  std::vector<std::string> steps = steps_of_loop(k);
  std::erase(steps, "release");  // there is none where each iteration has a stage
  EXPECT_EQ(steps, (std::vector<std::string>{"wait_group", "acquire", "to operand", "mma", "commit"}));
  const kernel::Work* widens =
      kernel::find_work(k, [](const kernel::Work& w) { return w.kind == kernel::WorkKind::to_operand; });
  ASSERT_TRUE(widens);
  EXPECT_TRUE(k.uses_tma(kernel::widened_by(k, *widens)->bytes));
}

// Rows and columns that tiles do not divide.
INSTANTIATE_TEST_SUITE_P(Layers, LayersInRegisters,
                         testing::Values(Layer{DType::uint4, DType::f16, 100, 130, 256, 128, true},
                                         Layer{DType::int4, DType::bf16, 72, 64, 128, 32, false},
                                         Layer{DType::int4, DType::bf16, 65, 72, 256, 64, false, true},
                                         Layer{DType::int8, DType::bf16, 66, 65, 128, 0, true},
                                         Layer{DType::e4m3, DType::f16, 257, 63, 192, 0, false}));

INSTANTIATE_TEST_SUITE_P(Layers, WidenedLayers,
                         testing::Values(Layer{DType::uint4, DType::f16, 1, 128, 512, 128, true},
                                         Layer{DType::int4, DType::bf16, 5, 64, 256, 128, false},
                                         Layer{DType::uint4, DType::bf16, 16, 96, 384, 64, true},
                                         Layer{DType::e2m1, DType::f16, 3, 64, 256, 32, false},
                                         Layer{DType::int4, DType::bf16, 7, 96, 256, 32, false, true},
                                         Layer{DType::int8, DType::f16, 17, 64, 256, 0, false},
                                         Layer{DType::e4m3, DType::bf16, 4, 64, 256, 0, false}));

}  // namespace
}  // namespace zellige::run
