// All ordered pairs of operators of the table, and 2,000 random triples, on one shared input or one after the other, with every
// result an output: planning ends, within a bound of work, and no rule is taken back; and the plans are right on the emulator.
// By default a sample; ZELLIGE_ALL=1 takes all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <thread>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/table_operators.hpp"
#include "graph/infer.hpp"
#include "reference/judge.hpp"
#include "reference/omit_roundings.hpp"
#include "reference/reference.hpp"
#include "run/emulate_graph.hpp"
#include "run/run.hpp"
#include "system/process.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using test::Arranged;

/// One graph of the table.
struct Drawn {
  std::vector<int> operators;
  Arranged how;
  test::Rows rows;
  graph::DType dtype;
};

int count() { return static_cast<int>(test::row_operators().size()); }

/// The pair of this number, of 2 n² : each operator before each, beside it and chained; shapes and dtypes by a seed.
Drawn pair(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const int n = count();
  return {{number / 2 / n, number / 2 % n},
          number % 2 == 0 ? Arranged::parallel : Arranged::chained,
          test::shapes_of_rows[random() % std::size(test::shapes_of_rows)],
          test::dtypes_of_rows[random() % std::size(test::dtypes_of_rows)]};
}
Drawn triple(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 1'000'000);
  const auto one = [&] { return static_cast<int>(random() % test::row_operators().size()); };
  const int a = one(), b = one(), c = one();
  return {{a, b, c},
          random() % 2 == 0 ? Arranged::parallel : Arranged::chained,
          test::shapes_of_rows[random() % std::size(test::shapes_of_rows)],
          test::dtypes_of_rows[random() % std::size(test::dtypes_of_rows)]};
}

/// A graph of several drawn ones, each on an input of its own, which one compilation takes. Of graphs that the builder or
/// the validator refuses nothing is added. Returns what was added.
std::vector<std::string> build(const std::vector<Drawn>& drawn, KernelGraph& g) {
  std::vector<std::string> names;
  const auto built = [&](const std::vector<Drawn>& all) {
    Builder b("table");
    names.clear();
    for (std::size_t i = 0; i < all.size(); ++i)
      names.push_back(
          test::add(b, all[i].operators, all[i].how, all[i].rows, all[i].dtype, i == 0 ? "" : "_" + std::to_string(i)));
    KernelGraph made = b.build();
    graph::validate(made);
    return made;
  };
  std::vector<Drawn> valid;
  for (const Drawn& d : drawn) {
    try {
      built({d});
      valid.push_back(d);
    } catch (const Error&) {  // such as a matrix with one dimension, or a dtype that the operator does not take
    }
  }
  if (valid.empty()) return {};
  g = built(valid);
  return names;
}

// Of what a graph of three operators takes: some hundred groups.
constexpr std::size_t max_steps = 20'000;

/// Plans a graph under a watch that counts, so that a search without end fails instead of hanging. Returns what is wrong.
std::string planned(const Drawn& drawn, const char* target) {
  KernelGraph g;
  const std::vector<std::string> names = build({drawn}, g);
  if (names.empty()) return "";
  std::size_t steps = 0;
  candidate::CostCache known;
  std::string wrong;
  try {
    const Optimized o = optimize(
        g, target::find(target), known, [&](const rewrite::Progress&) { return ++steps < max_steps; },
        Reasons::omitted);
    for (const std::string& why : o.rejected) wrong += fmt::format("\n  rejected: {}", why);
    if (steps >= max_steps) wrong += fmt::format("\n  not planned in {} steps", steps);
  } catch (const std::exception& e) {
    wrong = fmt::format("\n  {}", e.what());
  }
  return wrong.empty() ? "" : fmt::format("{} on {}:{}\n", names[0], target, wrong);
}

const char* target_of(int number) { return number % 2 == 0 ? "sm_80" : "sm_90a"; }

int draws(int few, int all) {
  if (const char* asked = std::getenv("ZELLIGE_TABLE")) return std::atoi(asked);
  return zellige::test::all_cases() ? all : few;
}

/// Returns the i-th of `draws` numbers below `all` that are spread evenly.
int spread(int i, int draws, int all) { return static_cast<int>(static_cast<std::int64_t>(i) * all / draws); }

/// Calls wrong(i) for each i below `count`, each in a process of its own, on all cores. Expects "" of each.
void expect_none(int count, const std::function<std::string(int)>& wrong) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  system::run_jobs(count, cores, wrong,
                   [](int i, const system::JobEnd& end) { EXPECT_EQ(end.crash + end.result, "") << "job " << i; });
}

constexpr int in_a_job = 15;  // graphs planned in one process

TEST(TableOfOperators, PairsArePlannedWithinABoundOfWork) {
  const int all = 2 * count() * count(), taken = draws(150, all);
  expect_none((taken + in_a_job - 1) / in_a_job, [&](int job) {
    std::string wrong;
    for (int i = job * in_a_job; i < std::min(taken, (job + 1) * in_a_job); ++i) {
      const int number = spread(i, taken, all);
      wrong += planned(pair(number), target_of(number / 3));
    }
    return wrong;
  });
}

TEST(TableOfOperators, TriplesArePlannedWithinABoundOfWork) {
  const int taken = draws(60, 2000);
  expect_none(taken, [&](int i) {
    const int seed = spread(i, taken, 2000);
    return planned(triple(seed), target_of(seed));
  });
}

constexpr int at_once = 8;  // graphs that one compilation takes

/// Runs some graphs as one program, and each that is wrong in it alone, to name it. Returns what is wrong.
std::string run_together(const std::vector<Drawn>& drawn, const char* target) {
  KernelGraph g;
  const std::vector<std::string> names = build(drawn, g);
  if (names.empty()) return "";
  const run::RunOptions on{.on = run::Machine::emulator, .target = target, .compile = {.fuse = true}};
  const run::RunResult r = run::run(g, on, toolchain::Cache::standard());
  if (r.status == run::Status::correct || r.status == run::Status::borderline) return "";
  if (names.size() > 1) {
    std::string wrong;
    for (const Drawn& d : drawn) wrong += run_together({d}, target);
    if (!wrong.empty()) return wrong;
  }
  const bool compared = r.reason.find("nothing to compare") == std::string::npos;
  return compared ? fmt::format("{} on {}: {}\n", fmt::join(names, "; "), target, run::summary(r)) : "";
}

/// Numbers whose products stay in float32's range, whatever their order. The second row begins with infinity, the third with
/// minus infinity, the fourth with NaN; a fifth of the first one is -0.
reference::Array special(const graph::Shape& shape, graph::DType dtype, std::mt19937& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double first[] = {1, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  std::normal_distribution<double> magnitude(0, 0.4);
  const auto usual = [&] { return std::exp(magnitude(random)) * (random() % 2 == 0 ? 1 : -1); };
  reference::Array a = reference::make_array(shape);
  const auto columns = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::size_t row = i / columns % std::size(first);
    a.values[i] = i % columns == 0 ? first[row] : row == 0 && i % 5 == 0 ? -0.0 : usual();
    a.values[i] = graph::round_to(dtype, a.values[i]);
  }
  return a;
}

/// Returns the graph with no roundings but those of its outputs.
KernelGraph fused(const KernelGraph& g) {
  std::vector<bool> stored(g.tensors.size());
  for (const int t : g.outputs) stored[static_cast<std::size_t>(t)] = true;
  return reference::omit_roundings(g, stored);
}

/// What a right kernel may return on some inputs: its error bounds, and runs of the reference with random rounding.
class Expected {
 public:
  Expected(const KernelGraph& g, const std::vector<reference::Array>& inputs)
      : g_(g),
        fused_(fused(g)),
        inputs_(inputs),
        rounded_(reference::run(g, inputs)),
        omitted_(reference::run(fused_, inputs, {.errors = true, .declared = &g, .spread = true})) {}

  double at(std::size_t tensor, std::size_t i) const { return rounded_.tensors[tensor].values[i]; }

  /// Returns whether a number is the reference's: the same infinity or NaN, or near it for a dtype of that mantissa. A number
  /// that rounding moves is as far from the reference as four times that of a sample, or is a sample's infinity or NaN.
  bool is(std::size_t tensor, std::size_t i, double found, int mantissa) {
    const double share = mantissa > 10 ? 1e-4 : std::ldexp(3.0, -mantissa), expected = at(tensor, i);
    const double omitted = omitted_.tensors[tensor].values[i];
    double allowed = share * std::fabs(expected) + share / 8;
    for (const double by : {omitted_.errors[tensor].values[i], 1.5 * std::fabs(expected - omitted)})
      if (std::isfinite(by)) allowed = std::max(allowed, by);
    if (same(found, expected) || std::fabs(found - expected) <= allowed ||
        (std::isnan(found) && order_decides(tensor, i)))
      return true;
    if (samples_.empty()) sample();
    for (const reference::Reference& moved : samples_) {
      const double sampled = moved.tensors[tensor].values[i];
      const double by = 4 * std::max(std::fabs(sampled - expected), std::fabs(sampled - omitted));
      if (same(found, sampled) || (std::isfinite(by) && std::fabs(found - expected) <= by)) return true;
    }
    return false;
  }

 private:
  static bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : std::isinf(a) && a == b; }

  /// Whether the element is a product of a row with an infinity, parts of which leave float32's range: inf x 1e-30 x 1e-30 is
  /// infinite from the left, and NaN from the right.
  bool order_decides(std::size_t tensor, std::size_t i) const {
    for (const graph::KernelOp& op : g_.ops) {
      if (op.kind != graph::OpKind::prod || op.outputs[0] != static_cast<int>(tensor)) continue;
      const reference::Array& of = rounded_.tensors[static_cast<std::size_t>(op.inputs[0])];
      const auto row = static_cast<std::size_t>(of.shape.back());
      double small = 0;
      for (std::size_t k = i * row; k < (i + 1) * row; ++k)
        if (of.values[k] != 0 && std::isfinite(of.values[k]))
          small += std::min(0.0, std::log2(std::fabs(of.values[k])));
      return std::isinf(at(tensor, i)) && small < -126;
    }
    return false;
  }

  void sample() {
    for (std::uint64_t k = 1; k <= reference::Judge::more_samples; ++k)
      samples_.push_back(
          reference::run(fused_, inputs_, {.errors = true, .sample = k, .declared = &g_, .around = &omitted_}));
  }

  const KernelGraph& g_;
  const KernelGraph fused_;
  const std::vector<reference::Array>& inputs_;
  reference::Reference rounded_, omitted_;  // with all roundings, and with those of the outputs
  std::vector<reference::Reference> samples_;
};

/// Compares the fused program on special values with the reference of the graph as it is given. Returns what is wrong.
std::string run_on_special_values(const std::vector<Drawn>& drawn, unsigned seed, const char* target) {
  KernelGraph g;
  const std::vector<std::string> names = build(drawn, g);
  std::string wrong;
  if (names.empty()) return wrong;
  std::mt19937 random(seed);
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs)
    inputs.push_back(
        special(g.tensors[static_cast<std::size_t>(t)].shape, g.tensors[static_cast<std::size_t>(t)].dtype, random));
  Expected expected(g, inputs);
  const std::vector<std::vector<double>> found =
      run::emulate_graph(optimize(g, target::find(target)).graph, inputs, target);
  const std::size_t each = g.outputs.size() / names.size();
  const auto bits = [&](int tensor) {
    return graph::format(g.tensors[static_cast<std::size_t>(tensor)].dtype).mantissa;
  };
  for (std::size_t o = 0; o < g.outputs.size(); ++o) {
    const auto t = static_cast<std::size_t>(g.outputs[o]);
    int mantissa = bits(g.inputs[o / each]);  // the fewest bits of the graph's input and results
    for (std::size_t i = 0; i < each; ++i) mantissa = std::min(mantissa, bits(g.outputs[o / each * each + i]));
    for (std::size_t i = 0; i < found[o].size(); ++i) {
      if (expected.is(t, i, found[o][i], mantissa)) continue;
      wrong += fmt::format("{} on {}, {}, element {}: found {}, expected {}\n", names[o / each], target,
                           g.tensors[t].name, i, found[o][i], expected.at(t, i));
      break;
    }
  }
  return wrong;
}

/// Returns pairs of the p-th program, spread over all pairs.
std::vector<Drawn> pairs_of(int p, int step) {
  const int all = 2 * count() * count();
  std::vector<Drawn> drawn;
  for (int i = 0; i < at_once; ++i) drawn.push_back(pair((spread(i, at_once, all) + step * p) % all));
  return drawn;
}

TEST(TableOfOperators, PairsAreRightOnTheEmulator) {
  expect_none(draws(2, 2 * count() * count() / at_once),
              [](int p) { return run_together(pairs_of(p, 977), target_of(p)); });
}

TEST(TableOfOperators, PairsKeepInfinitiesNanAndZeros) {
  expect_none(draws(2, 2 * count() * count() / at_once),
              [](int p) { return run_on_special_values(pairs_of(p, 1013), static_cast<unsigned>(p), target_of(p)); });
}

TEST(TableOfOperators, TriplesAreRightOnTheEmulator) {
  expect_none(draws(1, 2000 / at_once), [](int p) {
    std::vector<Drawn> drawn;
    for (int i = 0; i < at_once; ++i) drawn.push_back(triple(at_once * p + i));
    return run_together(drawn, target_of(p));
  });
}

}  // namespace
}  // namespace zellige::fuse
