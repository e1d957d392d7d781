// Views, casts and matmuls over batches that broadcast, against loops over coordinates.
#include "graph/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <tuple>

#include "graph/builder.hpp"
#include "graph/ops.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

reference::Array counted(const Shape& shape) {
  reference::Array a = reference::make_array(shape);
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = static_cast<double>(i % 509) - 200;
  return a;
}

std::int64_t index(const Shape& at, const Shape& shape) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
  return i;
}

TEST(Views, AreElementsOfTheirOperand) {
  Builder b("g");
  const Shape shape{3, 5, 4};
  const TensorHandle X = b.input("X", shape, DType::f32), V = b.input("V", {3, 1, 4}, DType::f32);
  b.output(permute(X, {2, 0, 1}), "permute");
  b.output(reshape(X, {15, 2, 2}), "reshape");
  b.output(expand(V, {2, 3, 5, 4}), "expand");
  b.output(slice(X, 1, 2, 5), "slice");
  const KernelGraph g = b.build();
  const reference::Array x = counted(shape), v = counted({3, 1, 4});
  const std::vector<reference::Array> y = reference::run_reference(g, {x, v});
  ASSERT_EQ(y[0].shape, (Shape{4, 3, 5}));
  ASSERT_EQ(y[2].shape, (Shape{2, 3, 5, 4}));
  ASSERT_EQ(y[3].shape, (Shape{3, 3, 4}));
  EXPECT_EQ(y[1].values, x.values);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t k = 0; k < 4; ++k) {
        const double at = x.values[index({i, j, k}, shape)];
        EXPECT_EQ(y[0].values[index({k, i, j}, y[0].shape)], at);
        for (std::int64_t n = 0; n < 2; ++n)
          EXPECT_EQ(y[2].values[index({n, i, j, k}, y[2].shape)], v.values[index({i, 0, k}, {3, 1, 4})]);
        if (j >= 2) EXPECT_EQ(y[3].values[index({i, j - 2, k}, y[3].shape)], at);
      }
  EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g));
}

// Inside a block: the same for a tile, and sums that remove a dimension combined with tiles of fewer
// dimensions.
TEST(Views, OfATile) {
  Builder b("g");
  const Shape shape{4, 5, 6};
  const TensorHandle X = b.input("X", shape, DType::f32);
  for (TensorHandle y : b.custom({.grid = {2}, .block = {32}, .loop = 3}, [&](BlockBuilder& t) {
         const TileHandle x = t.load(X, {.x = 0, .loop = 2});
         t.store(accum(permute(x, {2, 0, 1})), {.x = 1});  // (2, 2, 5) a block
         t.store(accum(reshape(x, {10, 2})), {.x = 0});
         t.store(accum(sum(x, 1)), {.x = 0});  // (2, 2)
         t.store(accum(x - reshape(amax(x, 2), {2, 5, 1})), {.x = 0});
       }))
    b.output(y);
  const KernelGraph g = b.build();
  const reference::Array x = counted(shape);
  const std::vector<reference::Array> y = reference::run_reference(g, {x});
  ASSERT_EQ(y[0].shape, (Shape{2, 4, 5}));
  ASSERT_EQ(y[1].shape, (Shape{20, 2}));
  ASSERT_EQ(y[2].shape, (Shape{4, 2}));
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 2; ++k) {
      double column = 0;
      for (std::int64_t j = 0; j < 5; ++j) {
        double loop = 0, below = 0;
        for (std::int64_t n = 0; n < 6; n += 2) {
          const double a = x.values[index({i, j, n}, shape)], c = x.values[index({i, j, n + 1}, shape)];
          loop += k ? c : a, below += (k ? c : a) - std::max(a, c);
        }
        EXPECT_EQ(y[0].values[index({k, i, j}, y[0].shape)], loop);
        EXPECT_EQ(y[1].values[index({i * 5 + j, k}, y[1].shape)], loop);
        EXPECT_EQ(y[3].values[index({i, j, k}, y[3].shape)], below);
        column += loop;
      }
      EXPECT_EQ(y[2].values[index({i, k}, y[2].shape)], column);
    }
  EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g));
}

/// Wherever steps are found they lead to the element that row-major order says, and memory that is dense always has steps.
TEST(Views, AReshapeIsALayoutOrNone) {
  std::mt19937 random(1);
  int layouts = 0, none = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Shape from, to;
    for (Shape* s : {&from, &to}) {
      std::int64_t left = 24;
      while (left > 1) {
        const std::int64_t e = std::vector<std::int64_t>{1, 2, 3, 4, 6}[random() % 5];
        if (left % e == 0) s->push_back(e), left /= e;
      }
    }
    Strides strides = row_major(from);
    const bool dense = random() % 3 == 0;
    if (!dense) {  // permuted, or with gaps
      std::int64_t next = 1;
      std::vector<std::size_t> order(from.size());
      for (std::size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
      if (random() % 2) std::shuffle(order.begin(), order.end(), random);
      for (std::size_t d : order) strides[d] = next, next *= from[d] + static_cast<std::int64_t>(random() % 4 == 0);
    }
    const auto v = viewed(OpKind::reshape, {.sizes = to}, from, strides, to);
    if (dense) ASSERT_TRUE(v) << to_string(from) << " " << to_string(to);
    (v ? layouts : none) += 1;
    if (!v) continue;
    for (std::int64_t i = 0; i < 24; ++i) {
      const Shape a = coordinates(i, from), b = coordinates(i, to);
      std::int64_t expected = 0, found = 0;
      for (std::size_t d = 0; d < a.size(); ++d) expected += a[d] * strides[d];
      for (std::size_t d = 0; d < b.size(); ++d) found += b[d] * v->steps[d];
      ASSERT_EQ(found, expected) << to_string(from) << ":" << to_string(strides) << " as " << to_string(to);
    }
  }
  EXPECT_GT(layouts, 1500);
  EXPECT_GT(none, 500);
}

/// A view of memory: for each element, in row-major order, its address.
struct Seen {
  Shape shape;
  std::vector<std::int64_t> at;
};

/// A random view of it, and what is seen then.
std::tuple<OpKind, Attributes, Seen> random_view(const Seen& x, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::int64_t>(random() % n); };
  const std::size_t rank = x.shape.size();
  OpKind kind = std::vector{OpKind::slice, OpKind::permute, OpKind::reshape, OpKind::expand}[random() % 4];
  Attributes a;
  Shape shape = x.shape;
  std::function<Shape(const Shape&)> from;  // the operand's coordinates of a result's
  if (kind == OpKind::slice) {
    a.dim = static_cast<int>(below(rank));
    a.start = below(static_cast<std::size_t>(shape[a.dim]));
    a.end = a.start + 1 + below(static_cast<std::size_t>(shape[a.dim] - a.start));
    shape[a.dim] = a.end - a.start;
    from = [a](Shape c) { return c[a.dim] += a.start, c; };
  } else if (kind == OpKind::permute) {
    Shape dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    std::ranges::shuffle(dims, random);
    for (std::size_t d = 0; d < rank; ++d) shape[d] = x.shape[dims[d]];
    from = [dims](const Shape& c) {
      Shape of(c.size());
      for (std::size_t d = 0; d < c.size(); ++d) of[dims[d]] = c[d];
      return of;
    };
    a.sizes = dims;
  } else if (kind == OpKind::reshape) {
    shape.clear();
    for (std::int64_t left = size(x.shape); left > 1;) {
      const std::int64_t e = 1 + below(static_cast<std::size_t>(left));
      if (left % e == 0) shape.push_back(e), left /= e;
    }
    if (shape.empty() || below(3) == 0) shape.insert(shape.begin() + below(shape.size() + 1), 1);
    from = [before = x.shape, shape](const Shape& c) { return coordinates(index(c, shape), before); };
  } else {
    for (std::int64_t& e : shape)
      if (e == 1 && below(2)) e = 2;
    from = [before = x.shape](Shape c) {
      for (std::size_t d = 0; d < c.size(); ++d) c[d] = before[d] == 1 ? 0 : c[d];
      return c;
    };
  }
  if (a.sizes.empty()) a.sizes = shape;
  Seen y{shape, {}};
  for (std::int64_t i = 0; i < size(shape); ++i)
    y.at.push_back(x.at[static_cast<std::size_t>(index(from(coordinates(i, shape)), x.shape))]);
  return {kind, a, y};
}

/// Views of views, each with the steps and starts of the one before it; of dense memory a part has steps in any shape of one row.
TEST(Views, AChainIsALayoutOrNone) {
  std::mt19937 random(3);
  int layouts = 0, none = 0, reshaped_parts = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Seen x{{4, 6, 2}, {}};
    for (std::int64_t i = 0; i < size(x.shape); ++i) x.at.push_back(i);
    Viewed v{row_major(x.shape), Shape(3, 0)};
    for (int step = 0; step < 5; ++step) {
      const auto [kind, attributes, y] = random_view(x, random);
      const auto next = viewed(kind, attributes, x.shape, v.steps, y.shape, v.starts);
      (next ? layouts : none) += 1;
      if (!next) {
        EXPECT_TRUE(kind == OpKind::reshape || kind == OpKind::expand);
        break;
      }
      reshaped_parts += kind == OpKind::reshape && std::ranges::any_of(v.starts, [](auto s) { return s != 0; });
      for (std::size_t i = 0; i < y.at.size(); ++i) {
        const Shape c = coordinates(static_cast<std::int64_t>(i), y.shape);
        std::int64_t found = 0;
        for (std::size_t d = 0; d < c.size(); ++d) found += (c[d] + next->starts[d]) * next->steps[d];
        ASSERT_EQ(found, y.at[i]) << name(kind) << " " << to_string(x.shape) << " to " << to_string(y.shape);
      }
      x = y, v = *next;
    }
  }
  EXPECT_GT(layouts, 5000);
  EXPECT_GT(reshaped_parts, 500);
  EXPECT_GT(none, 100);
}

TEST(Casts, RoundAsPyTorchDoes) {
  const double inf = std::numeric_limits<double>::infinity();
  Builder b("g");
  const TensorHandle X = b.input("X", {9}, DType::f32);
  b.output(cast(X, DType::f16), "half");
  b.output(cast(cast(X, DType::bf16), DType::f32), "through_bf16");
  b.output(b.custom({.grid = {1}, .block = {32}},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X);
                      t.store(x - cast(cast(x, DType::f16), DType::f32));  // what the cast loses
                    })
               .at(0),
           "lost");
  const KernelGraph g = b.build();
  EXPECT_EQ(g.tensors[g.outputs[0]].dtype, DType::f16);
  EXPECT_EQ(g.tensors[g.outputs[1]].dtype, DType::f32);
  const reference::Array x{{9}, {1 + 0x1p-11, 1 + 0x1.8p-10, 65519, 65520, -1e5, 0x1p-25, 0x1.8p-24, inf, NAN}};
  const std::vector<reference::Array> y = reference::run_reference(g, {x});
  const std::vector<double> half = {1, 1 + 0x1p-9, 65504, inf, -inf, 0, 0x1p-23, inf};
  const std::vector<double> bf16 = {1, 1, 65536, 65536, -99840, 0x1p-25, 0x1.8p-24, inf};
  for (std::size_t i = 0; i < half.size(); ++i) {
    EXPECT_EQ(y[0].values[i], half[i]) << i;
    EXPECT_EQ(y[1].values[i], bf16[i]) << i;
    if (i < 3) EXPECT_EQ(y[2].values[i], static_cast<double>(static_cast<float>(x.values[i] - half[i])));
  }
  EXPECT_TRUE(std::isnan(y[0].values[8]) && std::isnan(y[1].values[8]));
  EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g));
}

TEST(Matmul, BatchesBroadcast) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{2, 3, 4, 5}, {5, 6}}, {{4, 5}, {7, 5, 2}}, {{3, 1, 2, 5}, {1, 4, 5, 3}}, {{2, 5}, {5, 3}}};
  for (const auto& [left, right] : cases) {
    Builder b("g");
    const TensorHandle X = b.input("X", left, DType::f32), Y = b.input("Y", right, DType::f32);
    b.output(matmul(X, Y), "Z");
    b.output(
        b.custom({.grid = {1}, .block = {32}}, [&](BlockBuilder& t) { t.store(matmul(t.load(X), t.load(Y))); }).at(0),
        "block");
    const reference::Array x = counted(left), y = counted(right);
    const std::vector<reference::Array> z = reference::run_reference(b.build(), {x, y});
    const Shape shape = z[0].shape;
    const std::size_t r = shape.size();
    EXPECT_EQ(z[1].values, z[0].values);
    for (std::int64_t i = 0; i < size(shape); ++i) {
      const Shape at = coordinates(i, shape);
      // An operand's coordinate: its own dimensions, 0 where there is only one.
      const auto of = [&](const Shape& s, std::int64_t row, std::int64_t column) {
        Shape own(s.size());
        for (std::size_t d = 0; d + 2 < s.size(); ++d) own[d] = s[d] == 1 ? 0 : at[d + r - s.size()];
        own[s.size() - 2] = row, own[s.size() - 1] = column;
        return index(own, s);
      };
      double sum = 0;
      for (std::int64_t k = 0; k < left.back(); ++k)
        sum += x.values[of(left, at[r - 2], k)] * y.values[of(right, k, at[r - 1])];
      ASSERT_EQ(z[0].values[i], sum);
    }
  }
}

}  // namespace
}  // namespace zellige::graph
