// Pairs of graphs of two matrices x and y of (m, n), two square ones u and v of (n, n), and int32 lengths of (m, 1), in a
// surrounding that both graphs of a pair share.
#pragma once
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/builder.hpp"
#include "random/rng.hpp"

namespace zellige::search::test {

using graph::Builder;
using graph::KernelGraph;
using graph::Shape;
using graph::TensorHandle;
using random_graphs::Rng;

struct Inputs {
  TensorHandle x, y, u, v, lengths;
  std::int64_t m = 0, n = 0;
};
using Formula = std::function<TensorHandle(const Inputs&)>;

/// Two formulas of one result; the second may be a number short of elements, or of a sign, and so on.
struct Rule {
  std::string name;
  std::function<std::pair<Formula, Formula>(Rng&)> draw;
};

/// The context of both formulas: the operators on x before, and on the result after.
struct Surrounding {
  int before = 0, after = 0;
  double scale = 1;
};

inline KernelGraph make(const std::string& name, std::int64_t m, std::int64_t n, const Surrounding& around,
                        const Formula& formula) {
  Builder b(name);
  Inputs in;
  in.m = m, in.n = n;
  in.x = b.input("X", {m, n}), in.y = b.input("Y", {m, n});
  in.u = b.input("U", {n, n}), in.v = b.input("V", {n, n});
  in.lengths = b.input("lengths", {m, 1}, graph::DType::int32);
  if (around.before == 1) in.x = matmul(in.x, in.u);
  if (around.before == 2) in.x = in.x * around.scale;
  if (around.before == 3) in.x = silu(in.x);
  if (around.before == 4) in.x = in.x + in.y;
  TensorHandle z = formula(in);
  if (around.after == 1) z = matmul(z, in.v);
  if (around.after == 2) z = z * in.y;
  if (around.after == 3) z = tanh(z * around.scale);
  if (around.after == 4) z = z + in.x;
  b.output(z, "Z");
  return b.build();
}

/// One rule, drawn with a seed.
struct Pair {
  std::string name;
  KernelGraph a, b;
};

inline Pair draw_pair(const Rule& rule, std::uint64_t seed, bool simple) {
  Rng rng(seed);
  const Surrounding around{simple ? 0 : static_cast<int>(rng.below(5)), simple ? 0 : static_cast<int>(rng.below(5)),
                           rng.chance(50) ? 0.5 : 0.75};
  const std::int64_t m = rng.between(2, 6), n = rng.pick(std::vector<std::int64_t>{4, 6, 8, 12, 16});
  const auto [f, g] = rule.draw(rng);
  const std::string name = rule.name + "_" + std::to_string(seed);
  return {name, make(name, m, n, around, f), make(name, m, n, around, g)};
}

/// Seeds of each rule; more on demand.
inline std::uint64_t seeds_of_a_rule(std::uint64_t usual) {
  const char* text = std::getenv("ZELLIGE_EQUAL_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

}  // namespace zellige::search::test
