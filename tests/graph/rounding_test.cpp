// The verdict's rule: float32 errors of an ill-conditioned formula, in any order of summation, are never
// `wrong`; a fault is never `borderline`, unless it is smaller than the rounding errors.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../all_cases.hpp"
#include "float_runner.hpp"
#include "graph/builder.hpp"
#include "reference/compare.hpp"
#include "reference/judge.hpp"
#include "reference/noise.hpp"

namespace zellige::graph {
namespace {

constexpr DType dtypes[] = {DType::f16, DType::bf16, DType::f32};

/// One seed of this number is taken, drawn so that no remainder is preferred; all with ZELLIGE_ALL.
unsigned one_of() { return static_cast<unsigned>(test::every(3)); }
bool is_taken(int seed) { return std::mt19937(static_cast<unsigned>(seed))() % one_of() == 0; }

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t between(std::int64_t a, std::int64_t b) {
    return a + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(b - a + 1));
  }
  double bell() { return std::normal_distribution<double>()(random_); }
  template <class T>
  const T& pick(const std::vector<T>& v) {
    return v[random_() % v.size()];
  }

 private:
  std::mt19937_64 random_;
};

/// A formula of a few ill-conditioned steps on x and y, both (rows, columns); `one` is (rows, columns) of ones.
template <class L>
Handle<L> formula(Draw& draw, Handle<L> x, Handle<L> y, Handle<L> one, bool wide) {
  Handle<L> v = x;
  for (std::int64_t step = draw.between(1, 3); step > 0; --step) {
    switch (draw.between(0, 11)) {
      case 0: {  // softmax without its maximum
        const double reach = wide ? 80 : 8;
        const Handle<L> e = exp(clamp(v * (reach / 3), -reach, reach));
        v = e / reduction(e, 1);
        break;
      }
      case 1:
        v = (v + y * 1000.0) - x * 1000.0;
        break;  // a sum that cancels
      case 2:
        v = v - v * 0.9990234375;
        break;
      case 3:
        v = (reduction(v, 1) - reduction(y, 1)) * one;
        break;
      case 4:
        v = reduction(square(v), 1) * (1.0 / 32) - square(reduction(v, 1) * (1.0 / 32)) + y;
        break;  // a variance
      case 5:
        v = y / (v - x * 0.75);
        break;  // by what may be small
      case 6:
        v = y / sqrt(square(v) + one * (wide ? 1e-6 : 1e-2));
        break;  // a reciprocal root near 0
      case 7:
        v = log(one + square(v) * (wide ? 1e-4 : 1e-1));
        break;  // a logarithm near 1
      case 8:
        v = rms_norm(v - reduction(v, 1) * (1.0 / 32));
        break;
      case 9:
        v = silu(v * 4.0) + gelu(v * -2.0);
        break;
      case 10:
        v = sigmoid(v) * exp(clamp(y, -4, 4));
        break;
      default:
        v = pow(square(v) + one * 0.25, clamp(y, -3, 3));
        break;
    }
  }
  return v;
}

struct Drawn {
  KernelGraph graph;
  std::vector<reference::Array> inputs;
};

reference::Array values(Draw& draw, const Shape& shape, DType dtype) {
  reference::Array a = reference::make_array(shape);
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const double factor = std::exp2(static_cast<double>(draw.between(-4, 4)) / 2);
    for (std::int64_t j = 0; j < shape[1]; ++j) a.values[i * shape[1] + j] = round_to(dtype, factor * draw.bell());
  }
  return a;
}

/// The same graph for the same seed; the values of its inputs are another matter.
Drawn draw_graph(std::uint64_t seed, std::uint64_t input_seed) {
  Draw draw(seed);
  const DType dtype = dtypes[draw.between(0, 2)];
  const std::int64_t rows = draw.between(3, 12), columns = draw.pick(std::vector<std::int64_t>{8, 20, 32, 64, 96});
  Builder b("g" + std::to_string(seed));
  const TensorHandle X = b.input("X", {rows, columns}, dtype), Y = b.input("Y", {rows, columns}, dtype),
                     O = b.input("O", {rows, columns}, dtype), W = b.input("W", {columns, columns}, dtype);
  switch (draw.between(0, 3)) {
    case 0:
      b.output(formula(draw, X, Y, O, dtype == DType::f32));
      break;
    case 1:
      b.output(formula(draw, matmul(formula(draw, X, Y, O, false), W), Y, O, false));
      break;
    case 2:
      b.output(b.custom({.grid = {1}, .block = {32}}, [&](BlockBuilder& t) {
                  const TileHandle x = t.load(X), y = t.load(Y), o = t.load(O), w = t.load(W);
                  TileHandle v = formula(draw, x, y, o, true);
                  if (draw.between(0, 1)) v = formula(draw, matmul(v, w), y, o, true);
                  t.store(v);
                }).at(0));
      break;
    default:  // attention over a loop, with a running maximum; X W cancels
      b.output(b.custom({.grid = {1}, .block = {32}, .loop = 4}, [&](BlockBuilder& t) {
                  const TileHandle x = t.load(X), w = t.load(W, {.loop = 1}), v = t.load(W, {.loop = 0});
                  const TileHandle s = matmul(x, w) * (draw.between(0, 1) ? 2.0 : 0.125);
                  const auto [m, d] = reduction_max(s, 1);
                  const TileHandle p = exp(s - m), r = exp(d);
                  t.store(accum_rescale(matmul(p, v), r) / accum_red_sum_rescale(p, r));
                }).at(0));
  }
  Drawn result{b.build(), {}};
  Draw more(seed * 1000 + input_seed);
  for (int i : {0, 1, 2, 3}) {
    const Shape& shape = result.graph.tensors[result.graph.inputs[static_cast<std::size_t>(i)]].shape;
    reference::Array a = values(more, shape, dtype);
    if (i == 2) std::fill(a.values.begin(), a.values.end(), 1.0);
    result.inputs.push_back(std::move(a));
  }
  return result;
}

enum class Verdict { correct, borderline, wrong };

/// The verdict of zellige run on all kernel-level tensors of one run.
Verdict judge(const KernelGraph& g, reference::Judge& by, const std::vector<reference::Array>& found,
              std::string* why = nullptr) {
  Verdict v = Verdict::correct;
  for (const KernelOp& op : g.ops)
    for (int t : op.outputs) {
      const reference::Comparison c = by.compare(t, found[static_cast<std::size_t>(t)]);
      if (c.correct) continue;
      if (why && (v == Verdict::correct || !c.explained))
        *why = g.tensors[static_cast<std::size_t>(t)].name + ": " + reference::to_string(c);
      v = std::max(v, c.explained ? Verdict::borderline : Verdict::wrong);
    }
  return v;
}

/// The reference and its errors; what a block computes must stay finite in float32 too.
reference::Reference reference(const Drawn& d) {
  reference::ReferenceOptions options;
  options.threads = 1, options.errors = true, options.limit = options.tile_limit = reference::finite_limit;
  return reference::run(d.graph, d.inputs, options);
}

bool finite(const reference::Reference& r) {
  for (const reference::Magnitude& m : r.magnitudes)
    if (!m.within(3e4)) return false;
  return !r.stopped;
}

const std::vector<Style> styles = {{Order::forward, false},  {Order::backward, true},
                                   {Order::pairs, false},    {Order::lanes, true},
                                   {Order::shuffled, false}, {Order::shuffled, true, Bug::none, 0, 7}};

TEST(Rounding, IsNeverCalledWrong) {
  int graphs = 0, runs = 0, borderline[3] = {};
  for (int seed = 1; seed <= 1500; ++seed) {
    if (!is_taken(seed)) continue;
    const Drawn d = draw_graph(seed, 0);
    const reference::Reference r = reference(d);
    if (!finite(r)) continue;
    ++graphs;
    reference::Judge by(d.graph, d.inputs, r);
    for (const Style& style : styles) {
      std::string why;
      const Verdict v = judge(d.graph, by, FloatRunner(d.graph, style).run(d.inputs), &why);
      EXPECT_NE(v, Verdict::wrong) << "seed " << seed << ": " << why;
      ++runs;
      borderline[static_cast<int>(d.graph.tensors[0].dtype)] += v == Verdict::borderline;
    }
  }
  std::printf("%d graphs, %d runs; borderline: f16 %d, bf16 %d, f32 %d\n", graphs, runs, borderline[0], borderline[1],
              borderline[2]);
  EXPECT_GT(graphs, static_cast<int>(900 / one_of()));
  for (int n : borderline) EXPECT_GT(n, static_cast<int>(5 / one_of()));  // else nothing was ill-conditioned
}

/// The fraction of the error bound that correct runs use: the greatest |found - reference| / error, for each
/// tensor.
std::vector<double> used(const Drawn& d, const reference::Reference& r) {
  std::vector<double> maximum(d.graph.tensors.size(), 0);
  for (const Style& style : styles) {
    const std::vector<reference::Array> found = FloatRunner(d.graph, style).run(d.inputs);
    for (std::size_t t = 0; t < maximum.size(); ++t)
      if (!r.errors[t].values.empty() && !r.tensors[t].values.empty())
        for (std::size_t i = 0; i < found[t].values.size(); ++i) {
          const double e = r.errors[t].values[i], off = std::fabs(found[t].values[i] - r.tensors[t].values[i]);
          if (e > 0 && off > 0) maximum[t] = std::max(maximum[t], off / e);
        }
  }
  return maximum;
}

/// Chance alone leaves one of hundreds as it is in all twelve samples, and what a GPU found the other way would be called wrong.
TEST(Rounding, AComparisonThatMayBeEitherIsBothInTheFirstTwoSamples) {
  constexpr std::int64_t count = 1000;
  std::vector<double> first(count, 1), second(count, 1);
  std::vector<double> error(count, 1);
  error[7] = 0;
  reference::Noise(1, 3, 0).perturb(first, error);
  reference::Noise(2, 3, 0).perturb(second, error);
  std::int64_t ones = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    ones += first[i] == 1;
    EXPECT_EQ(first[i] + second[i], i == 7 ? 2 : 1) << "element " << i;
  }
  EXPECT_GT(ones, count / 3);
  EXPECT_LT(ones, count - count / 3);
}

/// gelu(x) < x for numbers where f16 rounds one to the other: a kernel that omits that rounding changes all
/// comparisons in the same direction, and a clamped sum of them shows all or nothing.
TEST(Rounding, ComparisonsThatMayBeEitherAreAllOneWayInTheNextTwo) {
  constexpr std::int64_t count = 100;
  std::vector<double> third(count, 1), fourth(count, 0);
  std::vector<double> error(count, 1);
  error[7] = 0;
  third[9] = 0, fourth[9] = 1;
  reference::Noise(3, 3, 0).perturb(third, error);
  reference::Noise(4, 3, 0).perturb(fourth, error);
  for (std::int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(third[i], 1) << "element " << i;
    EXPECT_EQ(fourth[i], 0) << "element " << i;
  }
}

/// A sigmoid of 17, which float32 rounds to 1 or to the number before it, cut to an integer: 1 or 0.
TEST(Rounding, ACutThatMayBeEitherIsBothInTheFirstTwoSamples) {
  constexpr std::int64_t count = 1000;
  const Attributes to_int{.dtype = DType::int32};
  EXPECT_TRUE(reference::cuts(OpKind::cast, to_int));
  EXPECT_FALSE(reference::cuts(OpKind::cast, {.dtype = DType::f16}) || reference::cuts(OpKind::sigmoid, to_int));
  const std::vector<double> x(count, 1 - 0x1p-25);
  std::vector<double> first(count, 0), second(count, 0), error(count, 0x1p-23);
  error[7] = 0, error[8] = 0x1p-26;
  reference::Noise(1, 3, 0).cut(to_int, x, error, first);
  reference::Noise(2, 3, 0).cut(to_int, x, error, second);
  std::int64_t ones = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    ones += first[i] == 1;
    EXPECT_EQ(first[i] + second[i], i == 7 || i == 8 ? 0 : 1) << "element " << i;
  }
  EXPECT_GT(ones, count / 3);
  EXPECT_LT(ones, count - count / 3);
}

TEST(Rounding, BugsAreNeverBorderline) {
  const char* names[] = {"none",
                         "missing summand",
                         "wrong index",
                         "factor",
                         "swapped rows",
                         "half of the partial results",
                         "stage read again"};
  int count[7][4] = {};  // of each bug: wrong, correct, borderline, and not even that much where honest runs lie
  std::vector<double> tight;
  for (int seed = 1; seed <= 900; ++seed) {
    if (!is_taken(seed)) continue;
    std::vector<Drawn> d;
    std::vector<reference::Reference> r;
    for (std::uint64_t input = 0; input < 3; ++input) {
      d.push_back(draw_graph(seed, input));
      r.push_back(reference(d.back()));
    }
    if (!finite(r[0]) || !finite(r[1]) || !finite(r[2])) continue;
    std::vector<reference::Judge> by;
    for (std::size_t input = 0; input < 3; ++input) by.emplace_back(d[input].graph, d[input].inputs, r[input]);
    FloatRunner clean(d[0].graph, styles[0]);
    clean.run(d[0].inputs);
    for (double x : used(d[0], r[0]))
      if (x > 0) tight.push_back(x);
    for (int bug = 1; bug <= 6; ++bug) {
      const Style style{Order::lanes, false, static_cast<Bug>(bug), seed % clean.operators};
      Verdict v = Verdict::correct;
      std::string why;
      bool hit = false;
      for (std::size_t input = 0; input < 3; ++input) {  // the rule of zellige run: borderline is tried again twice
        FloatRunner runner(d[input].graph, style);
        const std::vector<reference::Array> found = runner.run(d[input].inputs);
        hit = runner.hit;
        std::string reason;
        const Verdict now = judge(d[input].graph, by[input], found, &reason);
        if (input == 0) v = now, why = reason;
        if (input > 0 && now == Verdict::wrong) v = now;
        if (v != Verdict::borderline) break;
      }
      if (!hit) continue;
      ++count[bug][v == Verdict::wrong ? 0 : v == Verdict::correct ? 1 : 2];
      if (v != Verdict::borderline) continue;
      // Invisible: no element moves by more than twice its tolerance and eight times what honest runs do there.
      const std::vector<double> share = used(d[0], r[0]);
      const std::vector<reference::Array> spoilt = FloatRunner(d[0].graph, style).run(d[0].inputs);
      bool visible = false;
      double maximum = 0;
      for (const KernelOp& op : d[0].graph.ops)
        for (int t : op.outputs) {
          reference::Array allowed = r[0].errors[t];
          for (double& e : allowed.values) e *= 8 * share[t];
          const reference::Comparison c =
              reference::compare(spoilt[t], r[0].tensors[t],
                                 {INFINITY, 2 * reference::tolerance(d[0].graph.tensors[t].dtype).element}, &allowed);
          visible = visible || c.of_error > 1;
          maximum = std::max(maximum, c.of_error);
        }
      count[bug][3] += !visible;
      if (visible)
        std::printf("seed %d, %s in operator %d: %s; %.3g times eight times what honest runs show\n", seed, names[bug],
                    style.at, why.c_str(), maximum);
    }
  }
  std::sort(tight.begin(), tight.end());
  std::printf(
      "honest runs use %.2g of the errors in the median, %.2g at the 90th, %.2g at most, %.2g at the 10th "
      "percentile\n",
      tight[tight.size() / 2], tight[tight.size() * 9 / 10], tight.back(), tight[tight.size() / 10]);
  for (int bug = 1; bug <= 6; ++bug)
    std::printf("%-26s wrong %4d  within the tolerance %4d  borderline %3d, of which invisible %3d\n", names[bug],
                count[bug][0], count[bug][1], count[bug][2], count[bug][3]);
  for (int bug = 1; bug <= 6; ++bug) {
    EXPECT_EQ(count[bug][2], count[bug][3]) << names[bug];
    EXPECT_GT(count[bug][0], 3 * count[bug][1]) << names[bug];
    EXPECT_LT(count[bug][2] * 50, count[bug][0]) << names[bug];
  }
  EXPECT_LE(tight.back(), 1) << "the bound is one";
}

}  // namespace
}  // namespace zellige::graph
