// Rotary embeddings by definition: pair k of a row is rotated by an angle given by its cosine and sine.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/builder.hpp"
#include "reference/reference.hpp"
#include "reference/rounding.hpp"

namespace zellige::graph {
namespace {

reference::Array random_array(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = uniform(engine);
  return a;
}

/// An element of a table that broadcasts to tokens, heads and the last dimension.
double at(const reference::Array& a, std::int64_t token, std::int64_t head, std::int64_t last) {
  Shape where{token, head, last};
  std::int64_t index = 0;
  for (std::size_t d = 0; d < a.shape.size(); ++d) {
    const std::int64_t i = where[3 - a.shape.size() + d];
    index = index * a.shape[d] + (a.shape[d] == 1 ? 0 : i);
  }
  return a.values[static_cast<std::size_t>(index)];
}

TEST(Rotary, RotatesEachPair) {
  constexpr std::int64_t tokens = 3, heads = 2;
  for (const std::int64_t n : {2, 6, 8})
    for (const bool by_element : {false, true})
      for (const Shape& table : {Shape{0}, {1, 0}, {tokens, 1, 0}, {tokens, heads, 0}}) {
        Shape shape = table;
        shape.back() = by_element ? n : n / 2;
        Builder b("g");
        const TensorHandle X = b.input("X", {tokens, heads, n}, DType::f32), C = b.input("C", shape, DType::f32),
                           S = b.input("S", shape, DType::f32);
        b.output(rotary(X, C, S));
        b.output(rotary_interleaved(X, C, S));
        b.output(b.custom({.grid = {3}, .block = {32}}, [&](BlockBuilder& t) {
                    const auto part = [&](TensorHandle y) {
                      return t.load(y, {.x = y.shape().size() == 3 && y.shape()[0] == tokens ? 0 : -1});
                    };
                    t.store(rotary_interleaved(part(X), part(C), part(S)), {.x = 0});
                  }).at(0));
        const std::vector<reference::Array> in{random_array({tokens, heads, n}, 1), random_array(shape, 2),
                                               random_array(shape, 3)};
        reference::ReferenceOptions exact;
        exact.round = false;
        const std::vector<reference::Array> y = reference::run_reference(b.build(), in, exact);
        for (std::int64_t t = 0; t < tokens; ++t)
          for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t k = 0; k < n / 2; ++k) {
              const auto expect = [&](const reference::Array& found, std::int64_t i, std::int64_t j) {
                const double x = at(in[0], t, h, i), z = at(in[0], t, h, j);
                const std::int64_t ti = by_element ? i : k, tj = by_element ? j : k;
                EXPECT_NEAR(at(found, t, h, i), x * at(in[1], t, h, ti) - z * at(in[2], t, h, ti), 1e-15 * 8);
                EXPECT_NEAR(at(found, t, h, j), z * at(in[1], t, h, tj) + x * at(in[2], t, h, tj), 1e-15 * 8);
              };
              expect(y[0], k, k + n / 2);
              expect(y[1], 2 * k, 2 * k + 1);
              expect(y[2], 2 * k, 2 * k + 1);
            }
      }
}

// An error of one number shows in both of its pair, and in no other.
TEST(Rotary, ErrorsAreLimitedToTheirPair) {
  const Shape shape{1, 8}, table{1, 4};
  const reference::Array x = random_array(shape, 4), c = random_array(table, 5), s = random_array(table, 6);
  for (const OpKind kind : {OpKind::rotary, OpKind::rotary_interleaved})
    for (std::size_t moved = 0; moved < 8; ++moved) {
      reference::Array y = reference::make_array(shape);
      std::vector<double> e(8, 0), none(4, 0), error(8, -1);
      e[moved] = 0.25;
      reference::evaluate(kind, {}, {{shape, x.values.data()}, {table, c.values.data()}, {table, s.values.data()}},
                          {{shape, y.values.data()}});
      reference::propagate(kind, {}, DType::f32,
                           {{{shape, x.values.data()}, e.data()},
                            {{table, c.values.data()}, none.data()},
                            {{table, s.values.data()}, none.data()}},
                           {{shape, y.values.data()}}, {error.data()});
      const std::size_t other = kind == OpKind::rotary ? (moved + 4) % 8 : moved ^ 1;
      const std::size_t pair = kind == OpKind::rotary ? moved % 4 : moved / 2;
      for (std::size_t i = 0; i < 8; ++i) {
        const double share = i == moved ? std::fabs(c.values[pair]) : i == other ? std::fabs(s.values[pair]) : 0;
        EXPECT_NEAR(error[i], 0.25 * share, 1e-5) << name(kind) << " " << moved << " " << i;
      }
    }
}

}  // namespace
}  // namespace zellige::graph
