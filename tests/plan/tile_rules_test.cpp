// Each row of the table of rewrites of tile programs on 40 random programs: where its condition holds, the row applies,
// and what it makes stores the same bits; where the condition is broken, it does not apply, and applied all the same it
// would store others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "graph/dtype.hpp"
#include "rules/table.hpp"
#include "target/target.hpp"
#include "tile/program.hpp"
#include "tile/sections.hpp"

namespace zellige::plan {
namespace {

/// Computes what the first block of a program stores, node by node in float32.
class Machine {
 public:
  explicit Machine(const tile::TileProgram& p) : p_(p), sections_(p) {}

  std::vector<std::vector<float>> stored() {
    std::vector<std::vector<float>> all;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i)
      if (p_.nodes[i].kind == tile::NodeKind::store) all.push_back(value(static_cast<int>(i), 0));
    return all;
  }

 private:
  /// A node before the loop has one value; one inside has another one in each iteration, unless it is carried.
  const std::vector<float>& value(int i, std::int64_t iteration) {
    const tile::Node& n = p_.nodes[static_cast<std::size_t>(i)];
    if (!sections_.inside(i) || n.carried) iteration = 0;
    const auto [at, is_new] = known_.try_emplace({i, iteration});
    if (!is_new) return at->second;
    std::vector<float> result(static_cast<std::size_t>(graph::size(n.shape)));
    for (std::size_t e = 0; e < result.size(); ++e)
      result[e] = element(n, graph::coordinates(static_cast<std::int64_t>(e), n.shape), iteration);
    return known_[{i, iteration}] = result;
  }
  float operand(const tile::Node& n, std::size_t k, graph::Shape at, std::int64_t iteration) {
    const graph::Shape& shape = p_.nodes[static_cast<std::size_t>(n.in[k])].shape;
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + (shape[d] == 1 ? 0 : at[d]);
    return value(n.in[k], iteration)[static_cast<std::size_t>(index)];
  }

  float element(const tile::Node& n, const graph::Shape& at, std::int64_t iteration) {
    const auto x = [&](std::size_t k) { return operand(n, k, at, iteration); };
    switch (n.kind) {
      case tile::NodeKind::load: {
        std::size_t seed = static_cast<std::size_t>(n.tensor);
        for (int d = 0; d < n.view.rank(); ++d)
          seed = seed * 1009 +
                 static_cast<std::size_t>(n.view.along(d, p_).start(0, iteration) + at[static_cast<std::size_t>(d)]);
        std::mt19937 random(static_cast<unsigned>(seed));
        return rounded(std::uniform_real_distribution<float>(-2, 2)(random), n.dtype);
      }
      case tile::NodeKind::map:
        if (n.op == graph::OpKind::mul_scalar) return x(0) * static_cast<float>(n.scalar);
        if (n.op == graph::OpKind::square) return x(0) * x(0);
        if (n.op == graph::OpKind::mul) return x(0) * x(1);
        if (n.op == graph::OpKind::sub) return x(0) - x(1);
        if (n.op == graph::OpKind::cast) return rounded(x(0), n.to_dtype);
        if (n.op == graph::OpKind::mask)
          return at[static_cast<std::size_t>(n.key)] < *n.kept.length ? x(0) : static_cast<float>(n.scalar);
        break;
      case tile::NodeKind::unpack: {
        graph::Shape byte = at;
        byte[static_cast<std::size_t>(n.dim)] /= 2;
        const std::uint32_t bits = graph::to_bits(graph::DType::int8, operand(n, 0, byte, iteration));
        return static_cast<float>(
            graph::from_bits(n.to_dtype, bits >> (at[static_cast<std::size_t>(n.dim)] % 2 * 4) & 15));
      }
      case tile::NodeKind::round:
      case tile::NodeKind::store:
        return rounded(x(0), n.dtype);
      case tile::NodeKind::reduce:
      case tile::NodeKind::matmul: {
        const bool max = n.op == graph::OpKind::reduction_max, product = n.kind == tile::NodeKind::matmul;
        const auto dim = static_cast<std::size_t>(product ? 1 : n.dim);
        const std::int64_t extent = p_.nodes[static_cast<std::size_t>(n.in.back())].shape[product ? 0 : dim];
        float sum = max ? -std::numeric_limits<float>::infinity() : 0;
        for (std::int64_t it = n.carried ? 0 : iteration; it < (n.carried ? p_.loop : iteration + 1); ++it)
          for (std::int64_t k = 0; k < extent; ++k) {
            graph::Shape a = at;
            a[dim] = k + (n.window ? it * extent : 0);
            const float term = operand(n, 0, a, it) * (product ? operand(n, 1, {k, at[1]}, it) : 1.0F);
            sum = max ? std::max(sum, term) : sum + term;
          }
        return sum;
      }
      default:
        break;
    }
    ADD_FAILURE() << "an operator that this test has no value of";
    return 0;
  }
  static float rounded(float x, graph::DType dtype) { return static_cast<float>(graph::round_to(dtype, x)); }

  const tile::TileProgram& p_;
  tile::Sections sections_;
  std::map<std::pair<int, std::int64_t>, std::vector<float>> known_;  // by node and iteration
};

/// How a case builds its program: with the condition held, with it broken, or as the row would make it of that.
enum class Way : std::uint8_t { valid, broken, applied };

/// A program under construction, of random extents.
struct Draw {
  explicit Draw(unsigned seed) : random(seed), rows(1 + random() % 8), columns(8 * (1 + random() % 4)) {}
  int add(tile::NodeKind kind, std::vector<int> in, graph::Shape shape, graph::OpKind op = {}) {
    return p.add({.kind = kind, .op = op, .in = std::move(in), .shape = std::move(shape)});
  }
  tile::Node& last() { return p.nodes.back(); }
  int map(graph::OpKind op, std::vector<int> in, double scalar = 1) {
    const graph::Shape shape = p.nodes[static_cast<std::size_t>(in[0])].shape;
    const int i = add(tile::NodeKind::map, std::move(in), shape, op);
    last().scalar = scalar;
    return i;
  }
  /// Loads a tile, another one in each iteration along dimension `loop`, or the same one before the loop.
  int load(graph::Shape shape, int loop = -1) {
    const int i = add(tile::NodeKind::load, {}, shape);
    last().tensor = i;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      const std::int64_t tile = shape[static_cast<std::size_t>(d)];
      last().view.cuts.push_back({.loop = d == loop, .tile = tile, .extent = tile * (d == loop ? p.loop : 1)});
    }
    return i;
  }
  int reduce(int x, graph::OpKind op, bool carried = false) {
    const int i = add(tile::NodeKind::reduce, {x}, {p.nodes[static_cast<std::size_t>(x)].shape[0], 1}, op);
    last().dim = 1, last().carried = carried;
    return i;
  }
  void store(int x, graph::DType dtype = graph::DType::f32) {
    add(tile::NodeKind::store, {x}, p.nodes[static_cast<std::size_t>(x)].shape);
    last().dtype = dtype;
  }

  std::mt19937 random;
  std::int64_t rows, columns;
  tile::TileProgram p;
};

struct Case {
  std::string rule;
  std::function<void(Draw&, Way)> build;
  std::string why_equal{};  // why applying the row all the same changes no value; empty: it does
};

constexpr double infinity = std::numeric_limits<double>::infinity();

void cast_and_round(Draw& d, Way way) {
  const int x = d.load({d.rows, d.columns});
  const bool half = d.random() % 2 > 0;
  const graph::DType to = half ? graph::DType::f16 : graph::DType::bf16,
                     other = half ? graph::DType::bf16 : graph::DType::f16;
  int cast = x;
  if (way != Way::applied) {
    cast = d.map(graph::OpKind::cast, {x});
    d.last().to_dtype = way == Way::valid ? to : other;
  }
  d.store(cast, to);
}

void cast_of_nibbles(Draw& d, Way way) {
  const int bytes = d.load({d.rows, d.columns});
  d.last().dtype = graph::DType::int8;
  int x = d.add(tile::NodeKind::unpack, {bytes}, {d.rows, 2 * d.columns});
  d.last().dim = 1, d.last().to_dtype = d.random() % 2 > 0 ? graph::DType::int4 : graph::DType::uint4;
  d.last().dtype = way == Way::applied ? graph::DType::f32 : graph::DType::int8;
  if (way != Way::applied) {
    x = d.map(graph::OpKind::cast, {x});
    d.last().to_dtype = way == Way::valid ? graph::DType::f16 : graph::DType::int32;
  }
  d.store(x);
}

void scaled_mask(Draw& d, Way way) {
  const double scale = 0.1 + static_cast<double>(d.random() % 100), outside = way == Way::valid ? -infinity : -1;
  int x = d.load({d.rows, d.columns});
  if (way != Way::applied) x = d.map(graph::OpKind::mul_scalar, {x}, scale);
  x = d.map(graph::OpKind::mask, {x}, outside);
  d.last().kept.length = d.columns / 2, d.last().dim = 0, d.last().key = 1;
  if (way == Way::applied) x = d.map(graph::OpKind::mul_scalar, {x}, scale);
  d.store(x);
}

void scaled_max(Draw& d, Way way) {
  const double scale = (0.1 + static_cast<double>(d.random() % 100)) * (way == Way::valid ? 1 : -1);
  int x = d.load({d.rows, d.columns});
  if (way != Way::applied) x = d.map(graph::OpKind::mul_scalar, {x}, scale);
  x = d.reduce(x, graph::OpKind::reduction_max);
  if (way == Way::applied) x = d.map(graph::OpKind::mul_scalar, {x}, scale);
  d.store(x);
}

void few_rows(Draw& d, Way way) {
  d.p.loop = 2 + static_cast<std::int64_t>(d.random() % 3), d.p.grid = {64, 1, 1};
  const std::int64_t rows = d.rows + (way == Way::valid ? 0 : 8);
  const int x = d.load({rows, 16}, 1), g = d.load({1, 16}, 1), w = d.load({16, 8}, 0);
  const int a = d.add(tile::NodeKind::round, {d.map(graph::OpKind::mul, {x, g})}, {rows, 16});
  d.last().dtype = graph::DType::bf16;
  const int product = d.add(tile::NodeKind::matmul, {a, w}, {rows, 8});
  d.last().carried = true;
  d.store(product), d.store(d.reduce(d.map(graph::OpKind::square, {x}), graph::OpKind::reduction, true));
}

void long_chain(Draw& d, Way way) {
  const int x = d.load({d.rows, d.columns});
  int y = x;
  const unsigned pairs = (way == Way::valid ? 26 : 1) + static_cast<unsigned>(d.random() % 10);
  for (unsigned i = 0; i < pairs; ++i)
    y = d.map(graph::OpKind::sub, {y, x}), y = d.map(graph::OpKind::mul_scalar, {y}, 0.5);
  const int max = d.reduce(y, graph::OpKind::reduction_max);
  d.store(d.map(graph::OpKind::sub, {y, max}));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"cast twice", cast_and_round},
      {"cast of packed", cast_of_nibbles, "an integer of 4 bits is the same number in every dtype"},
      {"mask of scaled", scaled_mask},
      {"max of scaled", scaled_max},
      {"precompute A", few_rows, "the condition is about cost"},
      {"shared value", long_chain, "the condition is about cost"},
  };
  return all;
}

tile::TileProgram built(const Case& c, Way way, unsigned seed) {
  Draw d(seed);
  c.build(d, way);
  return d.p;
}

using TileRule = rules::RewriteRule<tile::TileProgram, target::Target>;

/// As rewrite(), and compares what is stored before and after each application of the row. Returns their number.
int applications(tile::TileProgram p, const TileRule& row) {
  const target::Target& target = target::find("sm_90a");
  int times = 0;
  for (auto at = std::begin(tile::program_rules); at != std::end(tile::program_rules);) {
    const tile::TileProgram before = p;
    const bool again = at->apply(p, target);
    if (at == &row && (again || p.nodes.size() != before.nodes.size())) {
      EXPECT_EQ(Machine(before).stored(), Machine(p).stored()) << row.name;
      ++times;
    }
    at = again ? std::begin(tile::program_rules) : at + 1;
  }
  return times;
}

TEST(TileRules, EachRowWithItsConditionTrueAndFalse) {
  for (const TileRule& row : tile::program_rules) {
    const auto c = std::ranges::find(cases(), row.name, &Case::rule);
    ASSERT_NE(c, cases().end()) << row.name;
    int different = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      EXPECT_GT(applications(built(*c, Way::valid, seed), row), 0) << row.name << ", seed " << seed;
      const tile::TileProgram broken = built(*c, Way::broken, seed);
      EXPECT_EQ(applications(broken, row), 0) << row.name << ", seed " << seed;
      if (c->why_equal.empty()) {
        const tile::TileProgram applied = built(*c, Way::applied, seed);
        different += Machine(broken).stored() != Machine(applied).stored();
      }
    }
    EXPECT_EQ(different > 0, c->why_equal.empty()) << row.name;
  }
  EXPECT_EQ(cases().size(), std::size(tile::program_rules));
}

}  // namespace
}  // namespace zellige::plan
