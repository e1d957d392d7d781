// The rows that act on a group's steps, each on 40 random groups: rewrites of steps, proved equal where they apply; and the
// laws of deferred values, on numbers. Where a condition is broken the row does not apply, and what it would make differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "candidate/axes.hpp"
#include "candidate/deferred.hpp"
#include "graph/builder.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"
#include "rules/table.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;
using search::Answer;

/// Writes steps as the graph that they compute if tiles cover `beyond` elements along an axis (-1: all as it is). Loads
/// return 0 past the axis's end, and stores leave out what is there.
graph::KernelGraph graph_of(const graph::KernelGraph& g, const candidate::GroupSteps& s, int axis = -1,
                            std::int64_t beyond = 0) {
  const candidate::Axes axes = candidate::axes_of(s);
  const auto dim = [&](int value) { return axis < 0 ? -1 : axes.dim(value, axis); };
  const auto made = [](graph::OpKind kind, const std::vector<TensorHandle>& in, const graph::Attributes& a) {
    return append(kind, in, a).at(0);
  };
  Builder b(g.name);
  std::map<int, TensorHandle> inputs, values;
  for (int t : g.inputs) inputs[t] = b.input(g.tensors[t].name, g.tensors[t].shape, g.tensors[t].dtype);
  for (int v = 0; v < std::ssize(s.values); ++v) {
    if (!s.values[v].loaded) continue;
    const graph::Shape& shape = s.values[v].shape;
    TensorHandle x = inputs.at(s.values[v].tensor);
    if (x.shape() != shape) x = made(graph::OpKind::reshape, {x}, {.sizes = shape});
    if (const int d = dim(v); d >= 0) {
      graph::Shape more = shape;
      more[d] = beyond - shape[d];
      const TensorHandle first = made(graph::OpKind::slice, {x}, {.dim = d, .start = 0, .end = 1});
      const TensorHandle zeros = made(graph::OpKind::mul_scalar, {first}, {.scalar = 0});
      x = made(graph::OpKind::concat, {x, made(graph::OpKind::expand, {zeros}, {.sizes = more})}, {.dim = d});
    }
    values[v] = x;
  }
  for (const candidate::GroupStep& step : s.steps) {
    std::vector<TensorHandle> in;
    for (int v : step.inputs) in.push_back(values.at(v));
    values[step.output] =
        made(step.kind == graph::OpKind::reduction ? graph::OpKind::sum : step.kind, in, step.attributes);
  }
  for (int v : s.outputs) {
    TensorHandle y = values.at(v);
    const int d = dim(v), tensor = s.values[v].tensor;
    if (d >= 0) y = made(graph::OpKind::slice, {y}, {.dim = d, .start = 0, .end = axes.axes[axis].extent});
    if (y.shape() != g.tensors[tensor].shape) y = made(graph::OpKind::reshape, {y}, {.sizes = g.tensors[tensor].shape});
    b.output(y, g.tensors[tensor].name);
  }
  return b.build();
}

candidate::GroupSteps steps_of_all(const graph::KernelGraph& g) {
  std::vector<int> ops(g.ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i] = static_cast<int>(i);
  return candidate::steps_of(g, ops);
}

std::int64_t small(std::mt19937& random) { return 2 + static_cast<std::int64_t>(random() % 4); }

TEST(StepsRules, ContiguousDimensionsBecomeOne) {
  const target::Target& target = target::find("sm_90a");
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const graph::Shape shape{small(random), small(random), 8 * small(random)};
    const auto built = [&](bool gaps) {
      Builder b("g");
      const graph::Strides rows = graph::row_major(shape);
      const TensorHandle x = b.input("x", shape, graph::DType::f32, rows),
                         bias = b.input("bias", {shape[2]}, graph::DType::f32);
      const TensorHandle y = gaps ? b.input("y", {shape[0], 1, shape[2]}, graph::DType::f32)
                                  : b.input("y", shape, graph::DType::f32, rows);
      b.output(square(x * y) + bias, "z", rows);
      return b.build();
    };
    const graph::KernelGraph valid = built(false), broken = built(true);
    const std::optional<candidate::GroupSteps> made = candidate::coalesce(steps_of_all(valid), {valid, target});
    ASSERT_TRUE(made) << seed;
    EXPECT_EQ(made->values[made->outputs[0]].shape, (graph::Shape{1, shape[0] * shape[1], shape[2]})) << seed;
    EXPECT_EQ(search::equal(valid, graph_of(valid, *made)).answer, Answer::equal) << seed;
    EXPECT_FALSE(candidate::coalesce(*made, {valid, target})) << "twice, " << seed;
    EXPECT_FALSE(candidate::coalesce(steps_of_all(broken), {broken, target}))
        << seed;  // y has no row for each row of x
  }
}

TEST(StepsRules, PartialTilesAreMasked) {
  const target::Target& target = target::find("sm_90a");
  int different = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t m = small(random), k = small(random), n = small(random), beyond = k + small(random);
    const auto built = [&](bool valid) {
      Builder b("g");
      const TensorHandle x = b.input("x", {m, k}, graph::DType::f32), w = b.input("w", {k, n}, graph::DType::f32);
      // What lies beyond the end is exp(0) in the one sum, 0 in the other.
      const TensorHandle f = valid ? exp(x) : square(x);
      b.output(sum(seed % 2 > 0 ? f : f * f, 1, true) + sum(matmul(f, w), 1, true), "y");
      return b.build();
    };
    const graph::KernelGraph valid = built(true), broken = built(false);
    const candidate::GroupSteps steps = steps_of_all(valid), others = steps_of_all(broken);
    const int axis = candidate::axes_of(steps).of[steps.steps[0].inputs[0]][1];
    const std::optional<candidate::GroupSteps> made = candidate::mask_partial_tiles(steps, {valid, target, {axis}});
    ASSERT_TRUE(made) << seed;
    EXPECT_EQ(search::equal(valid, graph_of(valid, *made, axis, beyond)).answer, Answer::equal) << seed;
    EXPECT_FALSE(candidate::mask_partial_tiles(*made, {valid, target, {axis}})) << "twice, " << seed;
    if (different == 0)
      different += search::equal(valid, graph_of(valid, steps, axis, beyond)).answer == Answer::different;
    EXPECT_FALSE(candidate::mask_partial_tiles(others, {broken, target, {axis}})) << seed;
    EXPECT_EQ(search::equal(broken, graph_of(broken, others, axis, beyond)).answer, Answer::equal) << seed;
  }
  EXPECT_GT(different, 0);
}

// ---- laws ----

using Kind = candidate::Deferred::Kind;

/// The numbers that a deferred value means.
struct Numbers {
  double factor = 0;  // the value of Factor 0
  double fallen = 0;  // the last maximum minus the running one
  double mean = 0;    // the mean of the block's part minus that which is subtracted
  /// Returns the value, given its tile, as Deferred::Kind says.
  double value(const candidate::Deferred& h, double tile) const {
    double v = h.kind == Kind::offset    ? tile + h.coefficient * fallen
               : h.kind == Kind::scaled  ? tile * std::exp(h.coefficient * fallen)
               : h.kind == Kind::centred ? tile + mean
                                         : tile;
    for (const candidate::DeferredFactor& f : h.factors) v = f.divide ? v / factor : v * factor;
    return v;
  }
};

/// A deferred value of the form that a law is about.
candidate::Deferred form(const candidate::DeferralLaw& law, std::mt19937& random) {
  const double coefficient = 0.25 * static_cast<double>(1 + random() % 6) * (random() % 2 > 0 ? 1 : -1);
  if (&law == &candidate::laws()[0] && random() % 2 > 0)
    return {.kind = Kind::scaled, .running = 0, .coefficient = coefficient};
  if (&law == &candidate::laws()[0]) return {.factors = {{0, random() % 2 > 0}}};
  if (&law == &candidate::laws()[1]) return {.kind = Kind::offset, .running = 0, .coefficient = coefficient};
  return {.kind = Kind::centred, .centre = 1, .about = 2};
}

/// A random elementwise operator as a step with some scalar; of one operand if the last one may be a scalar.
std::optional<candidate::GroupStep> drawn(std::mt19937& random) {
  const std::vector<graph::OpKind> all = graph::all_ops();
  const graph::OpKind kind = all[random() % all.size()];
  if (!graph::is_elementwise(kind)) return {};
  const graph::Elementwise& row = graph::elementwise(kind);
  const int count = row.operands - (row.scalar && random() % 2 > 0 ? 1 : 0);
  candidate::GroupStep s{
      .kind = kind, .attributes = {}, .inputs = std::vector<int>(static_cast<std::size_t>(count), 0)};
  s.attributes.scalar = std::uniform_real_distribution<double>(-2, 2)(random);
  s.attributes.lo = -1, s.attributes.hi = 1;
  return s;
}

/// Equal up to float32, in which casts round.
bool near(double a, double b) { return std::fabs(a - b) <= 1e-6 * (1 + std::fabs(a) + std::fabs(b)); }

/// Every elementwise operator on every form: what a law lets pass is the same before and after the loop, and the forms
/// matter, since what none lets pass is different for some numbers.
TEST(Laws, PassWhatIsTheSameAfterTheLoop) {
  for (const candidate::DeferralLaw& law : candidate::laws().first(3)) {
    int same = 0, different = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> number(0.5, 2);
      const std::optional<candidate::GroupStep> s = drawn(random);
      if (!s || s->inputs.size() > 2) continue;
      const bool two = s->inputs.size() == 2;
      const candidate::Deferred x = form(law, random), y = random() % 2 > 0 ? form(law, random) : candidate::Deferred{};
      const double scalar = s->attributes.scalar, tiles[] = {number(random), two ? number(random) : scalar};
      const Numbers numbers{number(random), number(random), number(random)};
      const double given[] = {numbers.value(x, tiles[0]), two ? numbers.value(y, tiles[1]) : scalar};
      candidate::Deferred h = x;
      const bool passes = law.apply(*s, h, two ? &y : nullptr);
      const double inside = graph::apply(s->kind, s->attributes, tiles),
                   outside = graph::apply(s->kind, s->attributes, given);
      if (h.kind == Kind::squared) {
        ++same;  // the sum is corrected, not the square: merge.cpp
      } else if (passes) {
        EXPECT_TRUE(near(numbers.value(h, inside), outside))
            << law.name << ": " << graph::name(s->kind) << ", " << seed;
        ++same;
      } else {
        different += !near(numbers.value(x, inside), outside);
      }
    }
    EXPECT_GE(same, 40) << law.name;
    EXPECT_GT(different, 0) << law.name;
  }
}

TEST(Laws, SumsOfSquaresAreCorrectedForTheMean) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-2, 2);
    const double m = number(random);
    double x[8], mean = 0, about_m = 0, about_mean = 0;
    for (double& e : x) e = number(random), mean += e / 8;
    for (double e : x) about_m += (e - m) * (e - m), about_mean += (e - mean) * (e - mean);
    EXPECT_TRUE(near(about_m, about_mean + 8 * (mean - m) * (mean - m)));
  }
}

TEST(Laws, MonotoneStepsMayComeBeforeTheMaximum) {
  const candidate::DeferralLaw& law = candidate::laws()[3];
  int same = 0, different = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(0.5, 2);
    const std::optional<candidate::GroupStep> s = drawn(random);
    if (!s) continue;
    candidate::Deferred h{.kind = Kind::maximum, .after = true, .of = 0, .dim = 1};
    const bool passes = law.apply(*s, h, nullptr);
    const auto f = [&](double x) {
      const double in[] = {x, s->attributes.scalar, s->attributes.scalar};
      return graph::apply(s->kind, s->attributes, in);
    };
    double after = -INFINITY, greatest = -INFINITY;
    for (int i = 0; i < 5; ++i) {
      const double x = number(random);
      greatest = std::max(greatest, x), after = std::max(after, f(x));
    }
    (passes ? same : different) += passes || f(greatest) != after;
    if (passes) EXPECT_EQ(f(greatest), after) << graph::name(s->kind) << ", " << seed;
    if (passes) EXPECT_EQ(h.monotone.size(), 1u);
  }
  EXPECT_GE(same, 40);
  EXPECT_GT(different, 0);
}

TEST(Laws, AreListedInTheDocs) {
  std::stringstream page;
  page << std::ifstream(ZELLIGE_SOURCE_DIR "/docs/explanation/fusion.md").rdbuf();
  for (const candidate::DeferralLaw& law : candidate::laws()) {
    const std::string shown = fmt::format("| {} | {} |", law.name, law.condition);
    EXPECT_NE(page.str().find(shown), std::string::npos) << shown;
  }
}

}  // namespace
}  // namespace zellige::fuse
