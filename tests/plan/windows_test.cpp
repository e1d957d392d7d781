// Windows: for random chains of views, the element that each coordinate shows is what the views, evaluated one after the
// other, have there, or padding where that is zero. What they say of alignment holds for all coordinates.
#include "tile/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "graph/infer.hpp"
#include "graph/unfold.hpp"
#include "graph/view.hpp"
#include "reference/evaluate.hpp"

namespace zellige::plan {
namespace {

using graph::OpKind;
using graph::Shape;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// Returns a view operator that fits the shape.
  graph::KernelOp view(const Shape& x) {
    const int rank = static_cast<int>(x.size()), dim = static_cast<int>((*this)(0, rank - 1));
    const std::int64_t extent = x[static_cast<std::size_t>(dim)];
    switch ((*this)(0, rank < 6 ? 5 : 3)) {
      case 0: {
        graph::KernelOp op{OpKind::permute, {}, {}, {.sizes = Shape(x.size())}, nullptr};
        std::iota(op.attributes.sizes.begin(), op.attributes.sizes.end(), 0);
        std::shuffle(op.attributes.sizes.begin(), op.attributes.sizes.end(), random_);
        return op;
      }
      case 1: {  // two dimensions become one, or one becomes two
        Shape to = x;
        if (dim + 1 < rank && (*this)(0, 1) == 0) {
          to[dim] *= to[dim + 1], to.erase(to.begin() + dim + 1);
        } else {
          std::int64_t part = (*this)(1, extent);
          while (extent % part != 0) --part;
          to[dim] = part, to.insert(to.begin() + dim, extent / part);
        }
        return {OpKind::reshape, {}, {}, {.sizes = to}, nullptr};
      }
      case 2: {
        const std::int64_t start = (*this)(0, extent - 1);
        return {OpKind::slice, {}, {}, {.dim = dim, .start = start, .end = (*this)(start + 1, extent)}, nullptr};
      }
      case 3: {
        Shape to = x;
        if (extent == 1) to[dim] = (*this)(1, 3);
        return {OpKind::expand, {}, {}, {.sizes = to}, nullptr};
      }
      default: {
        graph::Unfold u{.size = (*this)(1, 3), .step = (*this)(1, 3), .dilation = (*this)(1, 2)};
        if ((*this)(0, 1) == 0) u.before = (*this)(0, 2), u.after = (*this)(0, 2);
        if (u.reach() > extent + u.before + u.after) u = {.size = extent};
        return {
            OpKind::unfold, {}, {}, {.dim = dim, .sizes = {u.size, u.step, u.dilation, u.before, u.after}}, nullptr};
      }
    }
  }

 private:
  std::mt19937 random_;
};

/// Compares windows with values, where each element is its number in memory plus 1, and padding is 0.
void expect_same(const tile::Windows& w, const Shape& shape, const std::vector<double>& values) {
  ASSERT_EQ(w.shape(), shape);
  for (std::int64_t e = 0; e < graph::size(shape); ++e) {
    const Shape at = graph::coordinates(e, shape);
    const std::optional<std::int64_t> place = w.place(at);
    ASSERT_EQ(place ? static_cast<double>(*place + 1) : 0.0, values[static_cast<std::size_t>(e)])
        << graph::to_string(at) << " of " << graph::to_string(shape);
    std::int64_t sum = w.offset();
    for (std::size_t d = 0; d < at.size(); ++d) sum += w.distance(static_cast<int>(d), at[d]);
    ASSERT_TRUE(!place || sum == *place);
    ASSERT_TRUE(place || w.padded());
  }
}

/// Checks what units() and aligned() promise.
void expect_aligned(const tile::Windows& w, const Shape& shape) {
  const graph::Strides units = w.units();
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::int64_t i = 0; i + 1 < shape[d] && units[d] != 1; ++i) {
      const std::int64_t unit = units[d],
                         distance = w.distance(static_cast<int>(d), i + 1) - w.distance(static_cast<int>(d), i);
      ASSERT_TRUE(unit == 0 ? distance == 0 : distance % unit == 0);
    }
  for (std::size_t inner = 0; inner < shape.size(); ++inner) {
    const std::int64_t group = w.aligned(static_cast<int>(inner));
    for (std::int64_t e = 0; e < graph::size(shape) && group > 1; ++e) {
      const Shape at = graph::coordinates(e, shape);
      Shape first = at;
      first[inner] -= at[inner] % group;
      const auto here = w.place(at), begin = w.place(first);
      ASSERT_EQ(here.has_value(), begin.has_value());
      ASSERT_TRUE(!here || (*here == *begin + at[inner] % group && *begin % group == 0));
    }
  }
}

TEST(Windows, ShowWhatTheViewsEvaluateTo) {
  int unfolded = 0, padded = 0, aligned = 0, refused = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    Shape shape;
    for (std::int64_t d = draw(1, 4); d > 0; --d) shape.push_back(draw(1, 2) * draw(1, 4));
    graph::Strides strides = graph::row_major(shape);
    std::vector<double> values(static_cast<std::size_t>(graph::size(shape)));
    std::iota(values.begin(), values.end(), 1.0);
    std::optional<tile::Windows> w = tile::all_of(shape, strides, Shape(shape.size(), 0));
    for (std::int64_t left = draw(1, 5); left > 0; --left) {
      const graph::KernelOp op = draw.view(shape);
      const Shape to = graph::infer_shapes({"windows"}, op.kind, op.attributes, std::vector<Shape>{shape}).at(0);
      std::vector<double> next(static_cast<std::size_t>(graph::size(to)));
      reference::evaluate(op.kind, op.attributes, {{shape, values.data()}}, {{to, next.data()}}, graph::DType::f32, 1);
      w = tile::viewed(*w, op.kind, op.attributes, to);
      refused += !w;
      if (!w || graph::size(to) > 4000) break;
      unfolded += op.kind == OpKind::unfold;
      shape = to, values = std::move(next);
      expect_same(*w, shape, values);
      expect_aligned(*w, shape);
      if (HasFatalFailure()) return;
      padded += w->padded(), aligned += w->aligned(static_cast<int>(shape.size()) - 1) > 1;
    }
  }
  EXPECT_GT(unfolded, 1000);
  EXPECT_GT(padded, 500);
  EXPECT_GT(aligned, 500);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace zellige::plan
