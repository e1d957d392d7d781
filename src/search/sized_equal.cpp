#include "search/sized_equal.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "graph/error.hpp"
#include "search/independent.hpp"
#include "search/match.hpp"

namespace zellige::search {
namespace {

using graph::NamedSize;
using graph::SizeValues;

constexpr std::size_t max_values = 24, random_values = 6;

/// Returns a value of the size near this one: the next multiple below, or the least one.
std::int64_t value_near(const NamedSize& s, std::int64_t n) {
  return std::clamp(n / s.multiple * s.multiple, s.minimum(), s.greatest());
}

/// Returns the sizes of both graphs, with the values that both have. Throws Error if one has a size that the other lacks, or if they
/// have no value in common.
std::vector<NamedSize> common_sizes(const KernelGraph& a, const KernelGraph& b) {
  std::vector<NamedSize> both;
  for (const auto& [one, other] : {std::pair{&a, &b}, {&b, &a}})
    for (const NamedSize& s : graph::sizes_of(*one)) {
      const auto& known = graph::sizes_of(*other);
      const auto at = std::ranges::find(known, s.name, &NamedSize::name);
      if (at == known.end())
        fail("{} and {}: expected two graphs with the size {}, found none in {}", a.name, b.name, s.name, other->name);
      if (one == &b) continue;
      NamedSize c{s.name, std::max(s.min, at->min), std::min(s.max, at->max), std::lcm(s.multiple, at->multiple), {}};
      for (const auto* typical : {&s.typical, &at->typical})
        for (std::int64_t v : *typical)
          if (v >= c.min && v <= c.max && v % c.multiple == 0 && std::ranges::count(c.typical, v) == 0)
            c.typical.push_back(v);
      if (c.multiple > c.max || c.minimum() > c.max)
        fail("{} and {}: expected a value of {} that both have, found {} to {} by {} and {} to {} by {}", a.name,
             b.name, s.name, s.min, s.max, s.multiple, at->min, at->max, at->multiple);
      both.push_back(std::move(c));
    }
  return both;
}

std::string shown(const SizeValues& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values) words.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns the names of the sizes, as a list in words.
std::string names_of(const std::vector<NamedSize>& sizes) {
  std::vector<std::string> names;
  for (const NamedSize& s : sizes) names.push_back(s.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns whether inputs and outputs of both graphs have equal shapes for all values, as `pairing` pairs them.
bool same_shapes(const GraphPair& g) {
  const std::vector<graph::SymbolicShape> a = graph::extents(g.a), b = graph::extents(g.b);
  const auto same = [](const graph::SymbolicShape& x, const graph::SymbolicShape& y) { return x == y; };
  for (std::size_t i = 0; i < g.a.inputs.size(); ++i)
    if (!same(a[g.a.inputs[i]], b[g.b.inputs[g.pairing.inputs[i]]])) return false;
  for (std::size_t i = 0; i < g.a.outputs.size(); ++i)
    if (!same(a[g.a.outputs[i]], b[g.b.outputs[i]])) return false;
  return true;
}

}  // namespace

std::vector<SizeValues> looked_at(const std::vector<NamedSize>& sizes, std::uint64_t seed) {
  std::vector<SizeValues> all;
  const auto put = [&](const auto& value_of) {
    SizeValues values;
    for (const NamedSize& s : sizes) values[s.name] = value_of(s);
    if (all.size() < max_values && std::ranges::count(all, values) == 0) all.push_back(std::move(values));
  };
  put([](const NamedSize& s) { return s.minimum(); });
  put([](const NamedSize& s) { return s.greatest(); });
  put([](const NamedSize& s) { return value_near(s, s.minimum() + s.multiple); });
  put([](const NamedSize& s) { return value_near(s, s.greatest() - s.multiple); });
  std::size_t typical = 0;
  for (const NamedSize& s : sizes) typical = std::max(typical, s.typical.size());
  for (std::size_t i = 0; i < typical; ++i)
    put([&](const NamedSize& s) {
      return s.typical.empty() ? s.greatest() : s.typical[std::min(i, s.typical.size() - 1)];
    });
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < random_values; ++i)
    put([&](const NamedSize& s) {
      return s.multiple * std::uniform_int_distribution(s.minimum() / s.multiple, s.greatest() / s.multiple)(random);
    });
  return all;
}

Equality equal_sized(const KernelGraph& given_a, const KernelGraph& given_b, const EqualOptions& options) {
  const std::vector<NamedSize> sizes = common_sizes(given_a, given_b);
  const KernelGraph a = graph::narrowed(given_a, sizes), b = graph::narrowed(given_b, sizes);
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  std::vector<NamedSize> one_for_all, along = sizes;
  for (NamedSize& s : along)
    if (independent(a, s.name) && independent(b, s.name)) {
      one_for_all.push_back(s);
      s.min = s.max = s.minimum(), s.typical.clear();
    }
  const std::vector<SizeValues> values = looked_at(along, seed);
  const GraphPair pair{a, b, match(a, b)};
  EqualOptions same_seed = options;
  same_seed.seed = seed;
  if (same_structure(pair) && same_shapes(pair)) {
    Equality e{.answer = Answer::equal, .method = "structure", .seed = seed, .by_name = pair.pairing.by_name};
    e.why =
        fmt::format("for all values of {}: the same operators on the same operands, which proves it", names_of(sizes));
    return e;
  }
  const bool all_independent = one_for_all.size() == sizes.size() && same_shapes(pair);
  std::vector<std::string> looked;
  Equality last;
  for (const SizeValues& v : values) {
    last = equal(graph::at(a, v), graph::at(b, v), same_seed);
    if (last.answer != Answer::equal || all_independent) {
      const bool proved = last.answer == Answer::equal;
      last.why = fmt::format(
          "{}at {}: {}",
          proved ? fmt::format("for all values of {}, along which each element is computed apart: ", names_of(sizes))
                 : "",
          shown(v), last.why);
      return last;
    }
    looked.push_back(shown(v));
  }
  last.answer = Answer::undecided, last.method.clear(), last.log2_chance.reset();
  last.why = fmt::format("equal at the {} values that were looked at ({}); not proved for the others", looked.size(),
                         fmt::join(looked, "; "));
  if (!one_for_all.empty())
    last.notes.push_back(
        fmt::format("along {} each element is computed apart, so one value stands for all", names_of(one_for_all)));
  return last;
}

}  // namespace zellige::search
