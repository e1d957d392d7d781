// float32 matmuls on FMA units, on the emulator compared with the reference, on both targets: random sizes,
// majors, batches and biases; every tile of the table; inside custom operators, after and before row sums.
// Counters equal the prediction, and each load of a matmul supplies sixteen multiply-adds, without a bank
// conflict.
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "predict/predict.hpp"
#include "tiling/matmul_shapes.hpp"
#include "verify/proofs.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

using emulate::Counter;
using graph::BlockBuilder;
using graph::DType;
using graph::Shape;
using graph::Strides;
using graph::TensorHandle;
using graph::TileHandle;

std::vector<reference::Array> numbers(const graph::KernelGraph& g, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<reference::Array> in;
  for (int t : g.inputs) {
    in.push_back(reference::make_array(g.tensors[static_cast<std::size_t>(t)].shape));
    for (double& v : in.back().values) v = graph::round_to(DType::f32, uniform(engine));
  }
  return in;
}

int by_threads(const plan::Plan& plan) {
  int products = 0;
  for (const kernel::Kernel& k : plan.kernels)
    for (const kernel::Work& w : kernel::works(k)) products += w.matmul.pipe() == target::Pipe::fma;
  return products;
}

/// Compares results with the reference, and counters with the prediction.
plan::Plan expect_right(const graph::KernelGraph& g, const char* target, const plan::PlanOptions& plan_options = {}) {
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  const std::vector<reference::Array> in = numbers(g, 7), expected = reference::run_reference(g, in);
  emit::EmittedProgram p = test::transpile(g, target::find(target), plan_options);
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, in.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p, storage, cache, 2);
  for (const auto& f : r.findings) ADD_FAILURE() << g.name << " on " << target << ": " << f.message;
  for (std::size_t t = 0; t < storage.size(); ++t) {
    const manifest::TensorPlace& place = p.manifest.tensors[t];
    if (place.role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(place, storage[t]);
    const std::vector<double>& y = expected[static_cast<std::size_t>(place.position)].values;
    EXPECT_EQ(found.size(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::fabs(found[i] - y[i]) <= 2e-5 * std::fabs(y[i]) + 4e-5)) {
        ADD_FAILURE() << g.name << " on " << target << ", " << place.name << ", element " << i << ": found " << found[i]
                      << ", expected " << y[i];
        break;
      }
  }
  for (std::size_t k = 0; k < r.kernels.size(); ++k)
    for (const auto& [counter, n] : predict::predict(p.plan.kernels[k]))
      EXPECT_EQ(n, r.kernels[k].counters[counter])
          << g.name << " on " << target << ", kernel " << r.kernels[k].name << ": " << emulate::name(counter);
  return std::move(p.plan);
}

/// Row-major, or the last two dimensions the other way round; `more` elements between lines.
Strides strides(const Shape& s, bool transposed, std::int64_t more) {
  Strides result(s.size(), 1);
  std::int64_t next = 1;
  const std::size_t last = s.size() - 1, inner = transposed ? last - 1 : last, outer = transposed ? last : last - 1;
  result[inner] = 1, result[outer] = s[inner] + more, next = result[outer] * s[outer];
  for (std::size_t d = last - 1; d-- > 0;) result[d] = next, next *= s[d];
  return result;
}

class OuterProducts : public testing::TestWithParam<const char*> {};

TEST_P(OuterProducts, OfRandomSizes) {
  std::mt19937 engine(11);
  const auto size = [&](int maximum) {  // as often small as large, as often round as not
    const double x = std::exp(std::uniform_real_distribution<double>(0, std::log(maximum))(engine));
    const auto n = static_cast<std::int64_t>(x);
    return engine() % 2 ? std::max<std::int64_t>(1, n / 16 * 16) : std::max<std::int64_t>(1, n);
  };
  int products = 0;
  const int cases = test::all_cases() ? 16 : 9;
  for (int i = 0; i < cases; ++i) {
    const std::int64_t m = size(300), n = size(300), k = size(400), batch = i % 3 ? 1 : size(5);
    const Shape a = batch > 1 ? Shape{batch, m, k} : Shape{m, k}, b = batch > 1 ? Shape{batch, k, n} : Shape{k, n};
    graph::Builder g(fmt::format("product_{}x{}x{}x{}_{}", batch, m, n, k, i));
    const std::int64_t more = i % 4 == 1 ? 3 : 0;
    const TensorHandle A = g.input("A", a, DType::f32, strides(a, engine() % 2, more)),
                       B = g.input("B", b, DType::f32, strides(b, engine() % 2, i % 4 == 2 ? 4 : more));
    g.output(engine() % 2 ? matmul(A, B, g.input("C", {n}, DType::f32)) : matmul(A, B), "Y");
    products += by_threads(expect_right(g.build(), GetParam()));
  }
  EXPECT_GE(products, cases / 8)
      << "outer products are worth it where a tile has several rows and columns, and K is not 1";
}

TEST_P(OuterProducts, InEveryTile) {
  const target::Target& target = target::find(GetParam());
  std::set<std::string> rows;
  std::size_t place = 0;
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{129, 131, 70}, {7, 200, 600}}) {
    graph::Builder b("product");
    b.output(matmul(b.input("A", {m, k}, DType::f32), b.input("B", {k, n}, DType::f32, {1, k})), "Y");
    const graph::KernelGraph g = b.build();
    for (const retile::MatmulTile& t : tiling::matmul_shapes(tiling::matmul_size(g, 0), target)) {
      if (m < 16 && t.m > 16) continue;
      if (place++ % test::every(2) != 0) continue;
      plan::PlanOptions plan_options;
      plan_options.tiling = {{.op = 0, .grid = {}, .block = {}, .product = t}};
      plan_options.tiles = plan::TilingPolicy::fixed;
      const plan::Plan p = expect_right(g, GetParam(), plan_options);
      for (const kernel::Kernel& kernel : p.kernels)
        for (const kernel::Work& w : kernel::works(kernel))
          if (w.matmul.pipe() == target::Pipe::fma) rows.insert(w.matmul.row->name);
    }
  }
  EXPECT_GE(rows.size(), 3u) << "the tiles are there to be shared in different ways";
}

// A norm before, whose squares are accumulated with the matmul; gelu and a residual after it; small and large
// M.
TEST_P(OuterProducts, InLayers) {
  for (const std::int64_t rows : {3, 48}) {
    graph::Builder b(fmt::format("layer_of_{}", rows));
    const TensorHandle X = b.input("X", {rows, 96}, DType::f32), W = b.input("W", {96, 160}, DType::f32, {1, 96}),
                       V = b.input("V", {160, 96}, DType::f32, {1, 160}), C = b.input("C", {96}, DType::f32);
    const auto hidden = b.custom({.grid = {5}, .block = {128}, .loop = 3}, [&](BlockBuilder& t) {
      const TileHandle x = t.load(X, {.loop = 1}), w = t.load(W, {.x = 1, .loop = 0});
      t.store(silu(accum(matmul(x, w)) / accum_red_rms(x)), {.x = 1});
    });
    const auto y = b.custom({.grid = {3}, .block = {64}, .loop = 5}, [&](BlockBuilder& t) {
      const TileHandle h = t.load(hidden[0], {.loop = 1}), v = t.load(V, {.x = 1, .loop = 0});
      t.store(gelu(accum(matmul(h, v)) + t.load(C, {.x = 0})) + t.load(X, {.x = 1}), {.x = 1});
    });
    b.output(y[0], "Y");
    EXPECT_EQ(by_threads(expect_right(b.build(), GetParam())), 2);
  }
}

// Row sums of a matmul's result, in the lanes that share a row; the second matmul reads the first one's
// results.
TEST_P(OuterProducts, InAttention) {
  for (const auto& [rows, keys, head] : std::vector<std::array<std::int64_t, 3>>{{64, 96, 32}, {20, 72, 40}}) {
    graph::Builder b(fmt::format("attention_{}x{}x{}", rows, keys, head));
    const TensorHandle Q = b.input("Q", {2, rows, head}, DType::f32),
                       K = b.input("K", {2, head, keys}, DType::f32, {head * keys, 1, head}),
                       V = b.input("V", {2, keys, head}, DType::f32);
    b.output(b.custom({.grid = {2}, .block = {128}, .loop = 3},
                      [&](BlockBuilder& t) {
                        const TileHandle s = matmul(t.load(Q, {.x = 0}), t.load(K, {.x = 0, .loop = 2})) * 0.2;
                        const TileHandle e = exp(s);
                        t.store(accum(matmul(e, t.load(V, {.x = 0, .loop = 1}))) / accum(reduction(e, 2)), {.x = 0});
                      })[0],
             "Y");
    EXPECT_EQ(by_threads(expect_right(b.build(), GetParam())), 2);
  }
}

/// X sigmoid(A B), in whose second product A B's two rows are K: it reads four, of which whoever writes them leaves two as zeros.
graph::KernelGraph narrow_chain() {
  graph::Builder b("narrow_chain");
  const TensorHandle x = b.input("X", {20, 8}, DType::f32), a = b.input("A", {8, 14}, DType::f32),
                     w = b.input("B", {14, 80}, DType::f32);
  b.output(b.custom({.grid = {1}, .block = {128}, .loop = 4},
                    [&](BlockBuilder& t) {
                      const TileHandle p = sigmoid(matmul(t.load(a, {.loop = 0}), t.load(w, {})));
                      t.store(accum(matmul(t.load(x, {.loop = 1}), p)), {});
                    })
               .at(0),
           "Y");
  return b.build();
}

TEST_P(OuterProducts, ReadZerosAfterAnOperandsRows) {
  plan::Plan plan = expect_right(narrow_chain(), GetParam());
  EXPECT_EQ(by_threads(plan), 2);
  // If written from the first matmul's own accumulators, its two rows would be all.
  kernel::Kernel& k = plan.kernels.at(0);
  for (kernel::Agent& agent : k.agents)
    kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
      if (step.work.kind == kernel::WorkKind::to_shared &&
          k.tensors[static_cast<std::size_t>(step.work.tensor)].matmul_operand)
        for (std::size_t node = 0; node < k.program.nodes.size(); ++node)
          if (k.program.nodes[node].kind == tile::NodeKind::matmul && k.program.nodes[node].shape == Shape{2, 80})
            step.work.context = k.rmem_of(static_cast<int>(node));
    });
  try {
    verify::verify_bounds(k);
    ADD_FAILURE() << "an operand whose padding nobody writes";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("with its padding, (4, 80), and who writes it reaches (2, 80) alone"),
              std::string::npos)
        << e.what();
  }
}

// The loop of a square matmul: 8 x 8 accumulators per thread, 16 multiply-adds per load, two wavefronts each,
// for any order of the operands.
TEST_P(OuterProducts, ReadVectorsWithoutConflicts) {
  const target::Target& target = target::find(GetParam());
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true}) {
      constexpr std::int64_t n = 1024;
      graph::Builder b("square");
      b.output(matmul(b.input("A", {n, n}, DType::f32, strides({n, n}, a_transposed, 0)),
                      b.input("B", {n, n}, DType::f32, strides({n, n}, b_transposed, 0))),
               "Y");
      plan::PlanOptions plan_options;
      plan_options.tiling = {{.op = 0, .grid = {}, .block = {}, .product = retile::MatmulTile{128, 128, 16, 256}}};
      plan_options.tiles = plan::TilingPolicy::fixed;
      const emit::EmittedProgram p = test::transpile(b.build(), target, plan_options);
      const kernel::Kernel& kernel = p.plan.kernels.at(0);
      const kernel::Work* product =
          kernel::find_work(kernel, [](const kernel::Work& w) { return w.matmul.pipe() == target::Pipe::fma; });
      ASSERT_TRUE(product);
      EXPECT_EQ(kernel.layout_of(*product).values(), 64);
      const predict::Counts counts = predict::predict(kernel);
      const auto loads = counts.at(Counter::shared_load_16);
      EXPECT_EQ(loads, n * n * n / 16) << "4 of either operand for each of 8 x 8 accumulators and 4 of K";
      EXPECT_EQ(counts.at(Counter::shared_load_4) + counts.at(Counter::shared_load_8), 0u);
      EXPECT_EQ(counts.at(Counter::shared_load_wavefronts), loads / 32 * 2);
      EXPECT_EQ(counts.at(Counter::cp_async_wavefronts), counts.at(Counter::cp_async_wavefronts_ideal));
      EXPECT_NE(p.source.find(fmt::format("multiply_outer<16, {}, {}>(", !a_transposed, b_transposed)),
                std::string::npos)
          << p.source;
      EXPECT_NE(p.source.find("OuterProduct<4, 4, "), std::string::npos);
      EXPECT_NE(p.source.find("write<4>(gY("), std::string::npos) << "accumulators go from registers to memory";
      if (2 * (kernel.shared_bytes + target.shared_reserved_per_block) <= target.shared_per_multiprocessor)
        EXPECT_NE(p.source.find("__launch_bounds__(256, 2)"), std::string::npos) << "with room for a second";
    }
}

// Matmuls with less than one element per lane keep the scalar fallback.
TEST_P(OuterProducts, LeaveSmallOnesAlone) {
  graph::Builder b("dots");
  b.output(matmul(b.input("A", {2, 512}, DType::f32), b.input("B", {512, 2}, DType::f32)), "Y");
  const plan::Plan p = expect_right(b.build(), GetParam());
  EXPECT_EQ(by_threads(p), 0) << ir::print(p);
}

INSTANTIATE_TEST_SUITE_P(BothTargets, OuterProducts, testing::Values("sm_80", "sm_90a"));

}  // namespace
}  // namespace zellige::run
