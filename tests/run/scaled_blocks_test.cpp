// Products of 8-bit floats with scales of blocks, or without, and what follows them, by wgmma in two levels of accumulators: results, predicted
// counters, and where the rule or the instruction is refused.
#include <random>

#include "../all_cases.hpp"
#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "json/json.hpp"
#include "plan/plan.hpp"
#include "predict/predict.hpp"
#include "rules/rule.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using reference::Array;

/// A product (m, k) x (k, n), with one scale for each `rows` of A, and for each `columns` of B, of 128 of K.
struct ScaledProduct {
  std::int64_t m, n, k, rows, columns;
  bool turned = false;  // B is a weight (n, k) that is scaled before it is transposed
  DType dtype = DType::e4m3;
  bool bias = false;  // which is added to the product, in bf16
};

TensorHandle scaled(TensorHandle x, TensorHandle s, const Shape& blocks) {
  const Shape shape = x.shape(), parts{shape[0] / blocks[0], blocks[0], shape[1] / blocks[1], blocks[1]};
  const TensorHandle each = reshape(cast(x, DType::f32), parts) * reshape(s, {parts[0], 1, parts[2], 1});
  return cast(reshape(each, shape), DType::bf16);
}

graph::KernelGraph product_of(const ScaledProduct& p) {
  graph::Builder b("scaled");
  const TensorHandle A = b.input("A", {p.m, p.k}, p.dtype), B = b.input("B", {p.n, p.k}, p.dtype),
                     S = b.input("S", {p.m / p.rows, p.k / 128}, DType::f32);
  const Shape of_b{p.n / p.columns, p.k / 128};
  const TensorHandle T = b.input("T", p.turned ? of_b : Shape{of_b[1], of_b[0]}, DType::f32);
  const TensorHandle right =
      p.turned ? permute(scaled(B, T, {p.columns, 128}), {1, 0}) : scaled(permute(B, {1, 0}), T, {128, p.columns});
  TensorHandle y = matmul(scaled(A, S, {p.rows, 128}), right);
  if (p.bias) y = relu(y + b.input("C", {p.n}, DType::bf16));
  b.output(y, "Y");
  return b.build();
}

/// Powers of two, so that every operand is exact.
Array powers(const Shape& shape, unsigned salt) {
  Array a = reference::make_array(shape);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    a.values[i] = std::ldexp(1.0, -static_cast<int>((i * 2654435761u + salt) >> 8 & 3));
  return a;
}

bool apply_rule(graph::KernelGraph& g) {
  candidate::CostCache known;
  return fuse::apply(rules::Level::warpgroups, g, {}, known);
}

/// Expects that the rule makes a kernel on warpgroups, perhaps after one that repeats scales, whose results are the reference's and whose counters are predicted.
void expect_right(const graph::KernelGraph& given, const std::vector<Array>& inputs, double floor = 1e-4) {
  graph::KernelGraph g = given;
  ASSERT_TRUE(apply_rule(g));
  const plan::Plan plan = test::make_plan(g, target::find("sm_90a"));
  ASSERT_LE(plan.kernels.size(), 2u);
  EXPECT_TRUE(kernel::find_work(plan.kernels.back(), [](const kernel::Work& w) {
    return w.matmul.asynchronous() && std::string_view(w.matmul.row->name).find("F32E") != std::string_view::npos;
  })) << fmt::format("{}", fmt::join(plan.kernels.back().notes, "; "));
  const std::vector<Array> expected = reference::run_reference(given, inputs);
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  const emit::EmittedProgram program = test::transpile(g, target::find("sm_90a"));
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : program.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun run = run_emulated(program, storage, cache, 2);
  for (const auto& f : run.findings) ADD_FAILURE() << f.message;
  for (const auto& [counter, n] : predict::predict(plan.kernels.back()))
    EXPECT_EQ(n, run.kernels.back().counters[counter]) << emulate::name(counter);
  for (std::size_t t = 0; t < storage.size(); ++t) {
    if (program.manifest.tensors[t].role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(program.manifest.tensors[t], storage[t]);
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += !(std::fabs(found[i] - expected[0].values[i]) <= 0x1p-8 * std::fabs(expected[0].values[i]) + floor);
    EXPECT_EQ(wrong, 0);
  }
}

void expect_right(const ScaledProduct& p) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, scales of {} and {}, turned {}", p.m, p.n, p.k, p.rows, p.columns, p.turned));
  const graph::KernelGraph given = product_of(p);
  std::vector<Array> inputs{integers({p.m, p.k}, 1), integers({p.n, p.k}, 2)};
  for (std::size_t i = 2; i < given.inputs.size(); ++i)
    inputs.push_back(
        powers(given.tensors[static_cast<std::size_t>(given.inputs[i])].shape, 40503u * static_cast<unsigned>(i)));
  expect_right(given, inputs, p.bias ? 0.1 : 1e-4);
}

/// A product of precision bf16 without scales of blocks, and what follows it: as torch._scaled_mm has it.
struct BareProduct {
  std::int64_t m, n, k;
  bool by_rows = false;  // scales of rows and columns; else one of each operand
  bool bias = false, residual = false;
  bool turned = false;  // B is a weight (n, k); else an input (k, n) whose lines are of K
  DType dtype = DType::e4m3;
};

void expect_bare_right(const BareProduct& p) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, by rows {}, bias {}, residual {}, turned {}", p.m, p.n, p.k, p.by_rows,
                           p.bias, p.residual, p.turned));
  graph::Builder b("bare");
  const TensorHandle A = b.input("A", {p.m, p.k}, p.dtype), B = p.turned
                                                                    ? permute(b.input("B", {p.n, p.k}, p.dtype), {1, 0})
                                                                    : b.input("B", {p.k, p.n}, p.dtype, {1, p.k});
  const Shape rows{p.by_rows ? p.m : 1, 1}, columns{1, p.by_rows ? p.n : 1};
  TensorHandle y = matmul(A, B) * b.input("S", rows, DType::f32);
  y = y * b.input("T", columns, DType::f32);
  std::vector<Array> inputs{integers({p.m, p.k}, 1), integers(p.turned ? Shape{p.n, p.k} : Shape{p.k, p.n}, 2),
                            powers(rows, 3), powers(columns, 4)};
  if (p.bias) y = y + cast(b.input("C", {p.n}, DType::bf16), DType::f32), inputs.push_back(integers({p.n}, 5));
  y = cast(y, DType::bf16);
  if (p.residual) y = b.input("R", {p.m, p.n}, DType::bf16) + silu(y), inputs.push_back(integers({p.m, p.n}, 6));
  b.output(y, "Y");
  graph::KernelGraph g = b.build();
  for (graph::KernelOp& op : g.ops)
    if (op.kind == graph::OpKind::matmul) op.attributes.dtype = DType::bf16;
  expect_right(g, inputs, p.residual ? 0.1 : 1e-4);
}

TEST(ScaledBlocks, AreMultipliedByWarpgroups) {
  expect_right({128, 128, 256, 1, 128});
  expect_right({67, 144, 384, 1, 1, true, DType::e5m2, true});
  if (!test::all_cases()) return;
  std::mt19937 random(63);
  for (int draw = 0; draw < 20; ++draw) {
    const auto from = [&](int low, int high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
    const std::int64_t rows = from(0, 3) == 0 ? 128 : 1, columns = from(0, 1) == 0 ? 128 : 1;
    const std::int64_t m = rows == 1 ? from(1, 300) : 128 * from(1, 2),
                       n = columns == 1 ? 16 * from(1, 20) : 128 * from(1, 2);
    expect_right({m, n, 128 * from(2, 6), rows, columns, from(0, 1) == 1, from(0, 2) == 0 ? DType::e5m2 : DType::e4m3,
                  from(0, 1) == 1});
  }
}

// Also rows that fill no instruction, columns that are no multiple of a tile's, and a K of no whole tiles.
TEST(ScaledBlocks, OrNoneWithWhatFollows) {
  expect_bare_right({.m = 5, .n = 200, .k = 272, .by_rows = true, .bias = true});
  expect_bare_right({.m = 67, .n = 97, .k = 400, .residual = true, .turned = true});
  if (!test::all_cases()) return;
  std::mt19937 random(6305);
  for (int draw = 0; draw < 20; ++draw) {
    const auto from = [&](int low, int high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
    const std::int64_t m = from(0, 1) == 0 ? from(1, 16) : from(17, 300), n = from(1, 300), k = 16 * from(9, 40);
    expect_bare_right({m, n, k, from(0, 1) == 1, from(0, 1) == 1, from(0, 2) == 0, from(0, 1) == 1,
                       from(0, 2) == 0 ? DType::e5m2 : DType::e4m3});
  }
}

TEST(ScaledBlocks, AreChosenByPrice) {
  const graph::KernelGraph g = product_of({4096, 4096, 4096, 1, 128, true});
  const auto products = [&](const char* target) {
    int count = 0;
    for (const graph::KernelOp& op : fuse::optimize(g, target::find(target)).graph.ops)
      for (const graph::BlockOp& inner : op.block ? op.block->ops : std::vector<graph::BlockOp>{})
        count += inner.kind == graph::OpKind::matmul && inner.attributes.dtype == DType::bf16;
    return count;
  };
  EXPECT_EQ(products("sm_90a"), 1);
  EXPECT_EQ(products("sm_80"), 0);
}

// What the graph rounds to nothing coarser than f32, or f16, keeps all bits of its accumulators.
TEST(ScaledBlocks, ThatAreNotRoundedToBf16AreNot) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    graph::Builder b("wide");
    const auto operand = [&](const char* x, const char* s) {
      const TensorHandle each = reshape(cast(b.input(x, {128, 256}, DType::e4m3), DType::f32), {128, 2, 128});
      return cast(reshape(each * b.input(s, {128, 2, 1}, DType::f32), {128, 256}), dtype);
    };
    const TensorHandle left = operand("A", "S");
    b.output(matmul(left, permute(operand("B", "T"), {1, 0})), "Y");
    graph::KernelGraph g = b.build();
    EXPECT_FALSE(apply_rule(g)) << graph::name(dtype);
  }
}

TEST(ScaledBlocks, SayWhatTheirPrecisionMayBe) {
  const auto loaded = [](const char* operands, const char* precision) {
    return fmt::format(
        R"({{"zellige_graph": 1, "name": "p", "inputs": [{{"name": "A", "dtype": "{0}", "shape": [16, 32]}},
      {{"name": "B", "dtype": "{0}", "shape": [32, 16]}}], "operators": [{{"op": "matmul", "inputs": ["A", "B"],
      "outputs": ["Y"], "precision": "{1}"}}], "outputs": ["Y"]}})",
        operands, precision);
  };
  const auto error = [&](const char* operands, const char* precision) -> std::string {
    try {
      const graph::KernelGraph g = json::from_json(json::parse_json(loaded(operands, precision), "p"), "p");
      EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "p"), "p")), json::to_json(g));
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error("e4m3", "bf16"), "");
  EXPECT_EQ(error("bf16", "f32"), "");
  EXPECT_EQ(error("bf16", "bf16"),
            "graph p, operator 0 (matmul): expected precision f32, or bf16 with operands of e4m3 or e5m2, found bf16 "
            "with bf16");
  EXPECT_EQ(error("e4m3", "f16"),
            "graph p, operator 0 (matmul): expected precision f32, or bf16 with operands of e4m3 or e5m2, found f16 "
            "with e4m3");
}

}  // namespace
}  // namespace zellige::run
