// Weights of 4 and 8 bits (int4, uint4, e2m1, e8m0) on the emulator: casts of all bit patterns, tiles along and across their
// bytes, and linear layers whose weights are widened in the kernel of the product.
#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "kernel/widened.hpp"
#include "plan/plan.hpp"
#include "predict/predict.hpp"
#include "rules/rule.hpp"
#include "verify/proofs.hpp"
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

/// What follows a layer's product: nothing; a bias and silu, spelled out; a residual of which all rows are read, in another shape; the gate of a
/// second layer.
enum class After : std::uint8_t { nothing, activation, residual, gate };

/// A linear layer: rows, columns, K and elements of a group (0: one scale for each row).
struct Layer {
  DType weight, activation;
  std::int64_t m, n, k, group;
  bool zero, bias = false;
  After after = After::nothing;
};

/// Adds the product of the rows X with a weight of the layer, and the inputs' values.
TensorHandle product_of(graph::Builder& b, const Layer& l, TensorHandle X, std::vector<Array>& inputs,
                        const std::string& suffix) {
  const bool groups = l.group > 0;
  const Shape per = groups ? Shape{l.n, l.k / l.group, 1} : Shape{l.n, 1};
  const TensorHandle W = b.input("W" + suffix, {l.n, l.k}, l.weight), S = b.input("S" + suffix, per, l.activation);
  inputs.push_back(weights({l.n, l.k}, l.weight, static_cast<std::uint32_t>(suffix.size())));
  for (double& v : inputs.back().values) v = v != v ? 0 : std::clamp(v, -8.0, 15.0);
  graph::round_to(l.weight, inputs.back().values.data(), std::ssize(inputs.back().values));
  inputs.push_back(scales(per));
  TensorHandle w = cast(W, l.activation);
  if (groups) w = reshape(w, {l.n, l.k / l.group, l.group});
  if (l.zero) {
    w = w - b.input("Z" + suffix, per, l.activation);
    inputs.push_back(integers(per, 5));
  }
  w = w * S;
  if (l.bias) {
    w = w + b.input("B" + suffix, per, l.activation);
    inputs.push_back(integers(per, 5));
  }
  if (groups) w = reshape(w, {l.n, l.k});
  return matmul(X, permute(w, {1, 0}));
}

/// Returns the layer's graph, and inputs of it.
std::pair<graph::KernelGraph, std::vector<Array>> layer_of(const Layer& l) {
  graph::Builder b("layer");
  const TensorHandle X = b.input("X", {l.m, l.k}, l.activation);
  std::vector<Array> inputs{integers({l.m, l.k}, 1)};
  TensorHandle y = product_of(b, l, X, inputs, "");
  if (l.after == After::activation) {
    y = y * (1.0 / 64) + b.input("C", {l.n}, l.activation);
    y = y * sigmoid(y);
    inputs.push_back(integers({l.n}, 3));
  } else if (l.after == After::residual) {
    y = b.input("R", {1, l.m, l.n}, l.activation) + reshape(y, {1, l.m, l.n});
    inputs.push_back(integers({1, l.m, l.n}, 3));
  } else if (l.after == After::gate) {
    y = silu(y * (1.0 / 64)) * product_of(b, l, X, inputs, "2");
  }
  b.output(y, "Y");
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

void expect_values(const Layer& l, const std::vector<double>& found, const Array& expected, const char* target) {
  const double step = std::ldexp(1.0, -graph::format(l.activation).mantissa);
  // The reference rounds what follows the product step by step.
  const double each = l.after == After::nothing ? step : 4 * step, least = l.after == After::nothing ? 1e-3 : 32 * step;
  ASSERT_EQ(found.size(), expected.values.size());
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    wrong += !(std::fabs(found[i] - expected.values[i]) <= each * std::fabs(expected.values[i]) + least);
  EXPECT_EQ(wrong, 0) << target;
}

/// Expects that the layer is one kernel for the target, which computes what the reference does.
void expect_one_kernel(const Layer& l, const char* target) {
  const auto& [g, inputs] = layer_of(l);
  const fuse::Optimized o = fuse::optimize(g, target::find(target));
  EXPECT_EQ(o.kernels.size(), 1u) << target;
  const std::vector<Array> expected = reference::run_reference(g, inputs);
  expect_values(l, emulate_counted(o.graph, inputs, target), expected[0], target);
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

/// Returns the layer's graph with the weight as A of products by wgmma, whether or not that costs less, and expects the results.
graph::KernelGraph expect_on_warpgroups(const Layer& l) {
  auto [g, inputs] = layer_of(l);
  const std::vector<Array> expected = reference::run_reference(g, inputs);
  candidate::CostCache known;
  EXPECT_TRUE(fuse::apply(rules::Level::warpgroups, g, {}, known));
  expect_values(l, emulate_counted(g, inputs, "sm_90a"), expected[0], "sm_90a");
  return std::move(g);
}

TEST_P(LayersInRegisters, AreWidenedByAnItemOfTheSchedule) {
  const graph::KernelGraph g = expect_on_warpgroups(GetParam());
  const plan::Plan plan = plan::make_plan(g, target::find("sm_90a"));
  const kernel::Kernel& k = plan.kernels[0];
  EXPECT_TRUE(kernel::find_work(k, [](const kernel::Work& w) { return w.matmul.chained(); }))
      << fmt::format("{}", fmt::join(k.notes, "\n"));
  std::vector<std::string> steps = steps_of_loop(k);
  std::erase(steps, "release");  // there is none where each iteration has a stage
  // Bytes are loaded while the product of the iteration before is in flight.
  std::vector<std::string> expected{"acquire", "to operand", "wait_group", "to operand", "mma", "commit"};
  if (GetParam().after == After::gate)
    expected = {"acquire",    "to operand", "to operand", "wait_group", "to operand",
                "to operand", "mma",        "mma",        "commit"};
  EXPECT_EQ(steps, expected);
  const kernel::Work* widens =
      kernel::find_work(k, [](const kernel::Work& w) { return w.kind == kernel::WorkKind::to_operand; });
  ASSERT_TRUE(widens);
  EXPECT_TRUE(k.uses_tma(kernel::widened_by(k, *widens)->bytes));
}

/// Returns why the proof of registers refuses the kernel of a layer, from whose loop the steps are taken for which `drops` is true.
template <class Drops>
std::string refusal_without(const Drops& drops) {
  auto [g, inputs] = layer_of({DType::uint4, DType::f16, 65, 64, 512, 128, true});
  candidate::CostCache known;
  fuse::apply(rules::Level::warpgroups, g, {}, known);
  plan::Plan plan = plan::make_plan(g, target::find("sm_90a"));
  for (kernel::Step& step : plan.kernels[0].agents.at(0).steps)
    if (kernel::Loop* loop = kernel::as<kernel::Loop>(step); loop && loop->from > 0) std::erase_if(loop->body, drops);
  try {
    verify::verify_registers(plan.kernels[0]);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(WidenedOperands, AreMadeAfterTheirBytesAndTheLastProduct) {
  EXPECT_EQ(refusal_without([](const kernel::Step&) { return false; }), "");
  EXPECT_EQ(refusal_without([](const kernel::Step& s) { return kernel::as<kernel::WaitGroup>(s) != nullptr; }),
            "layer_k0: 'to operand %10' touches registers of 'mma %11', which no wait_group before it in consumer has "
            "waited for");
  EXPECT_EQ(refusal_without([](const kernel::Step& s) {
              return s.work.kind == kernel::WorkKind::to_operand && s.work.part == kernel::loads_bytes;
            }),
            "layer_k0: 'to operand %10' widens bytes of %10 that no step before it in this iteration has loaded");
}

// Rows and columns that tiles do not divide.
INSTANTIATE_TEST_SUITE_P(Layers, LayersInRegisters,
                         testing::Values(Layer{DType::uint4, DType::f16, 100, 130, 256, 128, true},
                                         Layer{DType::int4, DType::bf16, 72, 64, 128, 32, false},
                                         Layer{DType::int4, DType::bf16, 65, 72, 256, 64, false, true},
                                         Layer{DType::int8, DType::bf16, 66, 65, 128, 0, true},
                                         Layer{DType::e4m3, DType::f16, 257, 63, 192, 0, false},
                                         Layer{DType::uint4, DType::bf16, 66, 130, 256, 128, true, false,
                                               After::activation},
                                         Layer{DType::int8, DType::f16, 33, 70, 192, 0, false, false, After::residual},
                                         Layer{DType::int4, DType::f16, 40, 65, 256, 64, false, false, After::gate}));

INSTANTIATE_TEST_SUITE_P(Layers, WidenedLayers,
                         testing::Values(Layer{DType::uint4, DType::f16, 1, 128, 512, 128, true},
                                         Layer{DType::int4, DType::bf16, 5, 64, 256, 128, false},
                                         Layer{DType::uint4, DType::bf16, 16, 96, 384, 64, true},
                                         Layer{DType::e2m1, DType::f16, 3, 64, 256, 32, false},
                                         Layer{DType::int4, DType::bf16, 7, 96, 256, 32, false, true},
                                         Layer{DType::int8, DType::f16, 17, 64, 256, 0, false},
                                         Layer{DType::e4m3, DType::bf16, 4, 64, 256, 0, false},
                                         Layer{DType::uint4, DType::bf16, 9, 96, 256, 128, true, false,
                                               After::activation},
                                         Layer{DType::int8, DType::f16, 1, 80, 256, 0, false, false, After::residual},
                                         Layer{DType::int4, DType::f16, 6, 64, 256, 64, false, false, After::gate}));

}  // namespace
}  // namespace zellige::run
