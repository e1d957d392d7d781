#include <algorithm>
#include <boost/integer/mod_inverse.hpp>
#include <numeric>

#include "graph/infer.hpp"

namespace zellige::graph {
namespace {

__extension__ using Signed128 = __int128;  // holds the product of two strides

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

/// Finds integers x and y with a x + b y = c, |x| <= X and |y| <= Y, except x = y = 0.
class TwoModes {
 public:
  TwoModes(std::int64_t a, std::int64_t X, std::int64_t b, std::int64_t Y)
      : a_(a),
        X_(X),
        b_(b),
        Y_(Y),
        g_(std::gcd(a, b)),
        step_(b / g_),
        inverse_(step_ == 1 ? 0 : boost::integer::mod_inverse(a / g_, step_)) {}

  /// Returns integers (x, y), not both 0, with a x + b y = c, |x| <= X and |y| <= Y, or nullopt if there are
  /// none. a, b, X and Y are the constructor's arguments.
  std::optional<std::pair<std::int64_t, std::int64_t>> solve(std::int64_t c) const {
    if (c == 0) {
      if (step_ > X_ || a_ / g_ > Y_) return {};
      return std::pair{step_, -(a_ / g_)};
    }
    if (c % g_ != 0) return {};
    // The solutions x are x0 plus multiples of step_. The bounds of y limit x to a range.
    std::int64_t x0 = static_cast<std::int64_t>(Signed128{c / g_ % step_} * inverse_ % step_);
    const std::int64_t low = std::max(-X_, ceil_div(c - b_ * Y_, a_)), high = std::min(X_, floor_div(c + b_ * Y_, a_));
    x0 += ceil_div(low - x0, step_) * step_;
    if (x0 > high) return {};
    return std::pair{x0, (c - a_ * x0) / b_};
  }

 private:
  std::int64_t a_, X_, b_, Y_, g_, step_, inverse_;
};

/// A dimension with more than one element.
struct StridedMode {
  std::int64_t extent, stride;
  std::size_t dim;
};

/// Searches for a difference of two coordinates with the same address. Enumerates the differences along all
/// dimensions but the last two, and solves for these two.
class DifferenceSearch {
 public:
  explicit DifferenceSearch(std::vector<StridedMode> modes)
      : modes_(std::move(modes)),
        reach_(modes_.size() + 1, 0),
        d_(modes_.size(), 0),
        last_(modes_[modes_.size() - 2].stride, modes_[modes_.size() - 2].extent - 1, modes_.back().stride,
              modes_.back().extent - 1) {
    for (std::size_t k = modes_.size(); k-- > 0;) reach_[k] = reach_[k + 1] + (modes_[k].extent - 1) * modes_[k].stride;
  }

  /// Searches for index differences along dimensions k, k + 1, ... whose change of the address is -sum.
  /// Stores the differences in d_ and returns true, or returns false if there are none.
  ///
  /// `sum`: the change of the address by the differences along dimensions 0 to k - 1, which d_ holds already.
  /// `zero`: the differences along dimensions 0 to k - 1 are all 0. If so, at least one of the differences
  /// found is nonzero, and the first nonzero one is positive.
  bool collides(std::size_t k = 0, std::int64_t sum = 0, bool zero = true) {
    if (k + 2 == modes_.size()) {
      const auto found = last_.solve(-sum);
      if (found) d_[k] = found->first, d_[k + 1] = found->second;
      // If all earlier differences are 0, the last two must not both be 0, and solve() excludes that.
      // Otherwise, if the sum is 0, both may be 0.
      if (!found && sum == 0 && !zero) d_[k] = d_[k + 1] = 0;
      return found || (sum == 0 && !zero);
    }
    const std::int64_t s = modes_[k].stride, limit = modes_[k].extent - 1;
    const std::int64_t from = std::max(zero ? 0 : -limit, ceil_div(-sum - reach_[k + 1], s)),
                       to = std::min(limit, floor_div(-sum + reach_[k + 1], s));
    for (d_[k] = from; d_[k] <= to; ++d_[k])
      if (collides(k + 1, sum + d_[k] * s, zero && d_[k] == 0)) return true;
    return false;
  }

  /// Returns the coordinates of two elements with the same address. The coordinates have `rank` dimensions,
  /// and their difference is d_, which collides() has found.
  std::pair<Shape, Shape> coordinates(std::size_t rank) const {
    std::pair<Shape, Shape> both{Shape(rank, 0), Shape(rank, 0)};
    for (std::size_t k = 0; k < modes_.size(); ++k)
      (d_[k] > 0 ? both.first : both.second)[modes_[k].dim] = std::abs(d_[k]);
    return both;
  }

 private:
  std::vector<StridedMode> modes_;
  // largest address that the dimensions from k on reach; the differences
  std::vector<std::int64_t> reach_, d_;
  TwoModes last_;
};

}  // namespace

std::optional<std::pair<Shape, Shape>> shared_address(const Shape& shape, const Strides& strides) {
  std::vector<StridedMode> modes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (strides[d] == 0) {
      std::pair<Shape, Shape> both{Shape(shape.size(), 0), Shape(shape.size(), 0)};
      both.second[d] = 1;
      return both;
    }
    modes.push_back({shape[d], strides[d], d});
  }
  std::ranges::stable_sort(modes, {}, &StridedMode::stride);
  while (true) {
    bool nests = true;  // each stride exceeds the largest address of the smaller strides
    std::int64_t reach = 1;
    for (const StridedMode& m : modes) {
      nests = nests && m.stride >= reach;
      reach += (m.extent - 1) * m.stride;
    }
    if (nests) return {};
    // If the largest stride exceeds the largest address of the other dimensions, two elements with the same
    // address have the same index along the dimension with that stride. The search omits this dimension.
    reach -= (modes.back().extent - 1) * modes.back().stride;
    if (modes.back().stride < reach) break;
    modes.pop_back();
  }
  std::ranges::stable_sort(modes, {}, &StridedMode::extent);
  DifferenceSearch walk(modes);
  if (!walk.collides()) return {};
  return walk.coordinates(shape.size());
}

}  // namespace zellige::graph
