// Boxes of coordinates against lists of their elements: what some boxes cover, and where the elements of a view lie in its base.
#include "verify/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "../all_cases.hpp"
#include "random/rng.hpp"

namespace zellige::plan {
namespace {

using graph::KernelTensor;
using graph::Shape;
using random_graphs::Rng;

std::string text(const verify::CoordinateBox& b) { return graph::to_string(b.low) + " to " + graph::to_string(b.high); }
std::string text(const KernelTensor& t) { return graph::to_string(t.shape) + ":" + graph::to_string(t.strides); }

/// Returns the sorted addresses of a box's elements, one for each.
std::vector<std::int64_t> addresses(const verify::CoordinateBox& box, const graph::Strides& strides) {
  std::vector<std::int64_t> all{0};
  for (std::size_t d = 0; d < box.low.size(); ++d) {
    std::vector<std::int64_t> next;
    for (std::int64_t at = box.low[d]; at < box.high[d]; ++at)
      for (const std::int64_t a : all) next.push_back(a + at * strides[d]);
    all = std::move(next);
  }
  std::ranges::sort(all);
  return all;
}

verify::CoordinateBox drawn(Rng& rng, const Shape& in) {
  verify::CoordinateBox b;
  for (const std::int64_t extent : in) {
    const std::int64_t low = rng.chance(30) ? 0 : rng.below(extent);
    b.low.push_back(low),
        b.high.push_back(rng.chance(30) ? extent : rng.between(low + (rng.chance(95) ? 1 : 0), extent));
  }
  return b;
}

TEST(Boxes, CoverAnotherOneIfEachOfItsElementsIsInOneOfThem) {
  Rng rng(1);
  int covering = 0;
  for (int i = 0, n = test::all_cases() ? 300'000 : 20'000; i < n && !HasFailure(); ++i) {
    Shape in;
    for (std::int64_t r = rng.between(1, 3); r > 0; --r) in.push_back(rng.between(1, 5));
    const verify::CoordinateBox target = rng.chance(50) ? verify::whole(in) : drawn(rng, in);
    const graph::Strides strides{25, 5, 1};
    std::vector<verify::CoordinateBox> others;
    std::set<std::int64_t> elements;
    const std::vector<std::int64_t> all = addresses(target, strides);
    for (std::int64_t k = rng.below(9); k > 0; --k) {
      others.push_back(drawn(rng, in));
      const std::vector<std::int64_t> more = addresses(others.back(), strides);
      std::vector<std::int64_t> common;
      std::ranges::set_intersection(all, more, std::back_inserter(common));
      EXPECT_EQ(verify::intersect(target, others.back()), !common.empty())
          << text(target) << ", " << text(others.back());
      elements.insert(more.begin(), more.end());
    }
    EXPECT_EQ(verify::size(target), std::ssize(all));
    const bool right = std::ranges::all_of(all, [&](std::int64_t a) { return elements.contains(a); });
    EXPECT_EQ(verify::covered(target, others), right) << "draw " << i << ": " << text(target);
    covering += right ? 1 : 0;
  }
  EXPECT_GT(covering, 3000);
}

/// Returns a tensor whose elements have addresses of their own: its dimensions in any order of their strides, some padded.
KernelTensor base_of(Rng& rng) {
  KernelTensor t;
  for (std::int64_t r = rng.between(1, 3); r > 0; --r)
    t.shape.push_back(rng.pick(std::vector<std::int64_t>{1, 2, 3, 4, 6}));
  std::vector<std::size_t> order(t.shape.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  t.strides.resize(t.shape.size());
  std::int64_t stride = 1;
  for (const std::size_t d : order)
    t.strides[d] = stride, stride *= t.shape[d] + (rng.chance(25) ? rng.between(1, 2) : 0);
  return t;
}

/// Returns a view of the base: dimensions that are permuted, split, joined, or skip elements; some are any numbers.
KernelTensor view_of(Rng& rng, const KernelTensor& base) {
  KernelTensor t;
  for (std::size_t d = 0; d < base.shape.size(); ++d) {
    const std::int64_t extent = base.shape[d], by = rng.pick(std::vector<std::int64_t>{1, 1, 2, 3});
    if (extent % by == 0 && rng.chance(50)) {
      t.shape.push_back(extent / by), t.strides.push_back(by * base.strides[d]);
      if (rng.chance(60)) t.shape.push_back(by), t.strides.push_back(base.strides[d]);
    } else {
      t.shape.push_back(extent), t.strides.push_back(base.strides[d]);
    }
  }
  if (rng.chance(15)) t.shape.push_back(2), t.strides.push_back(rng.below(4));
  for (std::size_t d = 0; d + 1 < t.shape.size(); ++d) {
    if (t.strides[d] == t.shape[d + 1] * t.strides[d + 1] && rng.chance(30)) {
      t.shape[d] *= t.shape[d + 1], t.strides[d] = t.strides[d + 1];
      t.shape.erase(t.shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      t.strides.erase(t.strides.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else if (rng.chance(30)) {
      std::swap(t.shape[d], t.shape[d + 1]), std::swap(t.strides[d], t.strides[d + 1]);
    }
  }
  if (rng.chance(10)) t.shape[0] += 1;
  return t;
}

/// Returns the box of the base that has these addresses, each once; nullopt if none has.
std::optional<verify::CoordinateBox> searched(const std::vector<std::int64_t>& in, const KernelTensor& base) {
  std::optional<verify::CoordinateBox> found;
  for (verify::CoordinateBox b = verify::whole(base.shape);;) {  // the smallest one around them
    const std::vector<std::int64_t> all = addresses(b, base.strides);
    if (all == in) return b;
    bool smaller = false;
    for (std::size_t d = 0; d < b.low.size() && !smaller; ++d)
      for (const bool front : {true, false}) {
        verify::CoordinateBox less = b, cut = b;
        front ? ++less.low[d] : --less.high[d];
        front ? cut.high[d] = less.low[d] : cut.low[d] = less.high[d];
        if (verify::size(less) == 0) continue;
        const std::vector<std::int64_t> gone = addresses(cut, base.strides);
        if (std::ranges::any_of(gone, [&](std::int64_t a) { return std::ranges::binary_search(in, a); })) continue;
        b = less, smaller = true;
        break;
      }
    if (!smaller) return {};
  }
}

TEST(Boxes, OfAViewAreThoseOfItsBaseThatHaveTheSameElements) {
  Rng rng(2);
  int boxes = 0, inside = 0, undecided = 0;
  for (int i = 0, n = test::all_cases() ? 300'000 : 20'000; i < n && !HasFailure(); ++i) {
    const KernelTensor base = base_of(rng), view = view_of(rng, base);
    const verify::CoordinateBox box = drawn(rng, view.shape);
    if (verify::size(box) == 0) continue;
    const std::string of = fmt::format("draw {}: {} of {} in {}", i, text(box), text(view), text(base));
    const std::vector<std::int64_t> in = addresses(box, view.strides),
                                    all = addresses(verify::whole(base.shape), base.strides);
    const bool once = std::ranges::adjacent_find(in) == in.end();
    const std::optional<verify::CoordinateBox> right = searched(in, base), there = verify::in_base(box, view, base);
    EXPECT_EQ(there.has_value(), right.has_value()) << of << (right ? ", is " + text(*right) : "");
    if (there && right) EXPECT_EQ(text(*there), text(*right)) << of;
    boxes += there ? 1 : 0;
    const bool lies = std::ranges::includes(all, std::set(in.begin(), in.end()));
    if (verify::lies_in(box, view, base)) EXPECT_TRUE(lies) << of;
    if (right) EXPECT_TRUE(verify::lies_in(box, view, base)) << of;
    inside += lies ? 1 : 0, undecided += lies && once && !verify::lies_in(box, view, base) ? 1 : 0;
  }
  EXPECT_GT(boxes, 5000);
  EXPECT_LT(undecided, inside / 10);
}

TEST(Boxes, LieInABaseThatShowsItsElementsSeveralTimesAsInTheBase) {
  Rng rng(4);
  int inside = 0;
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    const KernelTensor base = base_of(rng), view = view_of(rng, base);
    const verify::CoordinateBox box = drawn(rng, view.shape);
    if (verify::size(box) == 0) continue;
    KernelTensor expanded = base;
    const auto at = rng.below(static_cast<std::int64_t>(base.shape.size()) + 1);
    expanded.shape.insert(expanded.shape.begin() + at, 2), expanded.strides.insert(expanded.strides.begin() + at, 0);
    const bool lies = verify::lies_in(box, view, base);
    EXPECT_EQ(verify::lies_in(box, view, expanded), lies)
        << text(box) << " of " << text(view) << " in " << text(expanded);
    inside += lies ? 1 : 0;
  }
  EXPECT_GT(inside, 500);
}

TEST(Boxes, OfTwoViewsAreDisjointIfNoElementIsInBoth) {
  Rng rng(3);
  int separate = 0, undecided = 0;
  for (int i = 0, n = test::all_cases() ? 300'000 : 20'000; i < n && !HasFailure(); ++i) {
    const KernelTensor base = base_of(rng), view = rng.chance(20) ? base : view_of(rng, base),
                       other = view_of(rng, base);
    const verify::CoordinateBox box = drawn(rng, view.shape), of_other = drawn(rng, other.shape);
    const std::vector<std::int64_t> whole_other = addresses(verify::whole(other.shape), other.strides);
    if (std::ranges::adjacent_find(whole_other) != whole_other.end()) continue;
    const std::vector<std::int64_t> a = addresses(box, view.strides), b = addresses(of_other, other.strides);
    std::vector<std::int64_t> common;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    const bool proved_disjoint = verify::disjoint(box, view, of_other, other, base);
    if (proved_disjoint)
      EXPECT_TRUE(common.empty()) << "draw " << i << ": " << text(box) << " of " << text(view) << ", " << text(of_other)
                                  << " of " << text(other) << " in " << text(base);
    separate += common.empty() ? 1 : 0, undecided += common.empty() && !proved_disjoint ? 1 : 0;
  }
  EXPECT_GT(separate, 3000);
  EXPECT_LT(undecided, separate / 10);
}

}  // namespace
}  // namespace zellige::plan
