// All ordered pairs of operators of the table, and 2,000 random triples, on one shared input or one after the other, with every
// result an output: planning ends, within a bound of work, and no rule is taken back; and the plans are right on the emulator.
// By default a sample; ZELLIGE_ALL=1 takes all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "../all_cases.hpp"
#include "fuse/fuse.hpp"
#include "fuse/table_operators.hpp"
#include "graph/validate.hpp"
#include "reference/reference.hpp"
#include "run/emulate_graph.hpp"
#include "run/run.hpp"

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
          number % 2 == 0 ? Arranged::beside : Arranged::chained,
          test::shapes_of_rows[random() % std::size(test::shapes_of_rows)],
          test::dtypes_of_rows[random() % std::size(test::dtypes_of_rows)]};
}
Drawn triple(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed) + 1'000'000);
  const auto one = [&] { return static_cast<int>(random() % test::row_operators().size()); };
  const int a = one(), b = one(), c = one();
  return {{a, b, c},
          random() % 2 == 0 ? Arranged::beside : Arranged::chained,
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
constexpr std::size_t most_steps = 20'000;

/// Plans a graph under a watch that counts, so that a search without end fails instead of hanging.
void expect_planned(const KernelGraph& g, const std::string& name, const char* target) {
  std::size_t steps = 0;
  CostCache known;
  try {
    const Optimized o = optimize(
        g, target::find(target), known, [&](const Progress&) { return ++steps < most_steps; }, Reasons::omitted);
    EXPECT_LT(steps, most_steps) << name;
    EXPECT_EQ(o.rejected, plan::Rejections{}) << name;
  } catch (const std::exception& e) {
    ADD_FAILURE() << name << " on " << target << ": " << e.what();
  }
}

const char* target_of(int number) { return number % 2 == 0 ? "sm_80" : "sm_90a"; }

int draws(int few, int all) {
  if (const char* asked = std::getenv("ZELLIGE_TABLE")) return std::atoi(asked);
  return zellige::test::all_cases() ? all : few;
}

/// Calls f(number) for so many numbers below `all`, spread evenly.
void spread(int draws, int all, const std::function<void(int)>& f) {
  for (int i = 0; i < draws; ++i) f(static_cast<int>(static_cast<std::int64_t>(i) * all / draws));
}

TEST(TableOfOperators, PairsArePlannedWithinABoundOfWork) {
  const int all = 2 * count() * count();
  spread(draws(150, all), all, [&](int number) {
    KernelGraph g;
    for (const std::string& name : build({pair(number)}, g))
      expect_planned(g, fmt::format("pair {}, {}", number, name), target_of(number / 3));
  });
}

TEST(TableOfOperators, TriplesArePlannedWithinABoundOfWork) {
  spread(draws(60, 2000), 2000, [&](int seed) {
    KernelGraph g;
    for (const std::string& name : build({triple(seed)}, g))
      expect_planned(g, fmt::format("triple {}, {}", seed, name), target_of(seed));
  });
}

constexpr int at_once = 8;  // graphs that one compilation takes

/// Runs some graphs as one program, and each that is wrong in it alone, to name it.
void expect_right(const std::vector<Drawn>& drawn, const char* target) {
  KernelGraph g;
  const std::vector<std::string> names = build(drawn, g);
  if (names.empty()) return;
  const run::Options on{.on = run::Engine::emulator, .target = target, .compile = {.fuse = true}};
  const run::RunResult r = run::run(g, on, run::Cache::standard());
  if (r.status == run::Status::correct || r.status == run::Status::borderline) return;
  if (names.size() > 1) {
    for (const Drawn& d : drawn) expect_right({d}, target);
    return;
  }
  if (r.reason.find("nothing to compare") == std::string::npos)
    ADD_FAILURE() << names[0] << " on " << target << ": " << run::summary(r);
}

/// Normal numbers; the second row begins with infinity, the third with minus infinity, the fourth with NaN, and a fifth of
/// the first one is -0.
graph::Array special(const graph::Shape& shape, graph::DType dtype, std::mt19937& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double first[] = {1, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  std::normal_distribution<double> normal(0, 1.5);
  graph::Array a = graph::make_array(shape);
  const auto columns = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::size_t row = i / columns % std::size(first);
    a.values[i] = i % columns == 0 ? first[row] : row == 0 && i % 5 == 0 ? -0.0 : normal(random);
    a.values[i] = graph::round_to(dtype, a.values[i]);
  }
  return a;
}

/// Returns whether a number is that of the reference: the same infinity or NaN, or near it for its dtype.
bool same_number(double found, double expected, graph::DType dtype) {
  if (std::isnan(expected) || std::isinf(expected)) return std::isnan(expected) ? std::isnan(found) : found == expected;
  const double share = dtype == graph::DType::f32 ? 1e-4 : std::ldexp(3.0, -graph::format(dtype).mantissa);
  return std::fabs(found - expected) <= share * std::fabs(expected) + share / 8;
}

/// Compares the fused program on special values with the reference of the graph as it is given.
void expect_special_values_right(const std::vector<Drawn>& drawn, unsigned seed, const char* target) {
  KernelGraph g;
  const std::vector<std::string> names = build(drawn, g);
  if (names.empty()) return;
  std::mt19937 random(seed);
  std::vector<graph::Array> inputs;
  for (const int t : g.inputs)
    inputs.push_back(
        special(g.tensors[static_cast<std::size_t>(t)].shape, g.tensors[static_cast<std::size_t>(t)].dtype, random));
  const std::vector<graph::Array> expected = graph::run_reference(g, inputs);
  const std::vector<std::vector<double>> found =
      run::emulate_graph(optimize(g, target::find(target)).graph, inputs, target);
  const std::size_t each = g.outputs.size() / names.size();
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const graph::KernelTensor& y = g.tensors[static_cast<std::size_t>(g.outputs[o])];
    for (std::size_t i = 0; i < found[o].size(); ++i)
      if (!same_number(found[o][i], expected[o].values[i], y.dtype)) {
        ADD_FAILURE() << names[o / each] << " on " << target << ", " << y.name << ", element " << i << ": found "
                      << found[o][i] << ", expected " << expected[o].values[i];
        break;
      }
  }
}

TEST(TableOfOperators, PairsAreRightOnTheEmulator) {
  const int all = 2 * count() * count(), programs = draws(2, all / at_once);
  for (int p = 0; p < programs; ++p) {
    std::vector<Drawn> drawn;
    spread(at_once, all, [&](int number) { drawn.push_back(pair((number + 977 * p) % all)); });
    expect_right(drawn, target_of(p));
  }
}

TEST(TableOfOperators, PairsKeepInfinitiesNanAndZeros) {
  const int all = 2 * count() * count(), programs = draws(2, all / at_once);
  for (int p = 0; p < programs; ++p) {
    std::vector<Drawn> drawn;
    spread(at_once, all, [&](int number) { drawn.push_back(pair((number + 1013 * p + 7) % all)); });
    expect_special_values_right(drawn, static_cast<unsigned>(p), target_of(p));
  }
}

TEST(TableOfOperators, TriplesAreRightOnTheEmulator) {
  const int programs = draws(1, 2000 / at_once);
  for (int p = 0; p < programs; ++p) {
    std::vector<Drawn> drawn;
    for (int i = 0; i < at_once; ++i) drawn.push_back(triple(at_once * p + i));
    expect_right(drawn, target_of(p));
  }
}

}  // namespace
}  // namespace zellige::fuse
