#include "lower/size_views.hpp"

#include <algorithm>
#include <numeric>

#include "graph/error.hpp"

namespace zellige::lower {
namespace {

using tile::SizeList;
using tile::SymbolicNumber;

/// Returns the products of up to three sizes whose largest value is `largest`, and that integer itself.
std::vector<SymbolicNumber> candidates(const SizeList& sizes, std::int64_t largest) {
  std::vector<SymbolicNumber> all{largest}, products{1};
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<SymbolicNumber> longer;
    for (const SymbolicNumber& product : products)
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i].computed) continue;
        const SymbolicNumber more = product * SymbolicNumber::of(sizes, static_cast<int>(i));
        if (const std::int64_t high = more.high(); high > 0 && largest % high == 0) {
          longer.push_back(more);
          if (!more.is_constant() && std::ranges::find(all, more * (largest / high)) == all.end())
            all.push_back(more * (largest / high));
        }
      }
    products = std::move(longer);
  }
  return all;
}

/// Returns numbers a and b with a * b == n, the largest value of a being `largest`; none: there are none, or several.
std::optional<std::pair<SymbolicNumber, SymbolicNumber>> split(const SymbolicNumber& n, std::int64_t largest,
                                                               const SizeList& sizes) {
  if (largest == 1) return std::pair(SymbolicNumber(1), n);
  if (largest == n.high()) return std::pair(n, SymbolicNumber(1));
  std::optional<std::pair<SymbolicNumber, SymbolicNumber>> found;
  for (const SymbolicNumber& a : candidates(sizes, largest))
    for (const SymbolicNumber& b : candidates(sizes, n.high() / largest)) {
      if (!(a * b == n)) continue;
      if (found) return std::nullopt;
      found.emplace(a, b);
    }
  if (!found && n.divisor() % largest == 0) found.emplace(largest, ceil_div(n, largest));
  return found;
}

/// Divides a dimension after its innermost elements, `largest` at most: returns the outer factors and the inner ones; none: there are
/// none, or several.
std::optional<std::pair<ExtentFactors, ExtentFactors>> divide(ExtentFactors outer, std::int64_t largest,
                                                              const SizeList& sizes) {
  ExtentFactors inner;
  while (largest > 1) {
    if (outer.empty()) return std::nullopt;
    const SymbolicNumber last = outer.back();
    const std::int64_t high = last.high();
    outer.pop_back();
    if (largest % high == 0) {
      inner.insert(inner.begin(), last);
      largest /= high;
      continue;
    }
    const auto parts = high % largest == 0 ? split(last, largest, sizes) : std::nullopt;
    if (!parts) return std::nullopt;
    inner.insert(inner.begin(), parts->first), outer.push_back(parts->second);
    largest = 1;
  }
  return std::pair(std::move(outer), std::move(inner));
}

/// A dimension of a view, of this extent and stride, in a base.
class InBase {
 public:
  InBase(const SizedLayout& base, const SizedLayout& view, const SizeList& sizes, int dim)
      : base_(base), view_(view), sizes_(sizes), dim_(dim), wanted_(view.shape[dim]), stride_(view.strides[dim]) {}

  std::optional<SizedDimension> find() const {
    if (const auto known = view_.known.find(dim_); known != view_.known.end())
      if (const int k = outer(stride_); k >= 0) return SizedDimension{{known->second}, 1, k};
    if (wanted_ == 1 || stride_ == 0) return SizedDimension{{wanted_}, 1, -1};
    for (int k = 0; k < static_cast<int>(base_.shape.size()); ++k) {
      const std::int64_t unit = base_.strides[k], extent = base_.shape[k];
      if (extent == 1 || unit == 0 || stride_ < unit || stride_ >= unit * extent || stride_ % unit != 0) continue;
      const auto parts = divide(base_.extents[k], stride_ / unit, sizes_);
      if (!parts) continue;
      ExtentFactors have = parts->first;
      for (std::int64_t largest = extent / (stride_ / unit); largest < wanted_;) {
        const int next = outer(stride_ * largest);
        if (next < 0) break;
        have.insert(have.begin(), base_.extents[next].begin(), base_.extents[next].end());
        largest *= base_.shape[next];
      }
      if (const auto of = taken(have)) return SizedDimension{*of, product_of(parts->second), k};
    }
    return std::nullopt;
  }

 private:
  /// Returns the dimension of the base with this stride; -1: there is none.
  int outer(std::int64_t stride) const {
    for (int k = 0; k < static_cast<int>(base_.shape.size()); ++k)
      if (base_.shape[k] > 1 && base_.strides[k] == stride) return k;
    return -1;
  }
  /// Returns the extent of the view's dimension, which lies in a line of `have` elements of the base.
  std::optional<ExtentFactors> taken(const ExtentFactors& have) const {
    const SymbolicNumber all = product_of(have);
    const std::int64_t largest = all.high(), start = view_.starts[dim_];
    if (largest == wanted_ && start == 0) return have;
    for (std::size_t d = 0; d < view_.shape.size(); ++d)  // another dimension of the view has the rest of the line
      if (view_.shape[d] > 1 && view_.strides[d] == stride_ * wanted_ && start == 0 && largest % wanted_ == 0)
        if (const auto parts = divide(have, wanted_, sizes_)) return parts->second;
    if (all.is_constant() || all.low() >= start + wanted_)
      return ExtentFactors{wanted_};  // a slice that is always there
    return std::nullopt;
  }

  const SizedLayout &base_, &view_;
  const SizeList& sizes_;
  int dim_;
  std::int64_t wanted_, stride_;
};

}  // namespace

SymbolicNumber product_of(const ExtentFactors& factors) {
  SymbolicNumber all = 1;
  for (const SymbolicNumber& f : factors) all = all * f;
  return all;
}

std::vector<SymbolicNumber> own_strides(const tile::TilePrograms& p, int tensor) {
  const graph::KernelTensor& t = p.tensors[tensor];
  std::vector<int> inner_first(t.shape.size());
  std::iota(inner_first.begin(), inner_first.end(), 0);
  std::ranges::reverse(inner_first);
  std::ranges::stable_sort(inner_first, {}, [&](int d) { return t.strides[d]; });
  std::vector<SymbolicNumber> strides(t.strides.begin(), t.strides.end());
  SymbolicNumber next = 1;
  for (const int d : inner_first) {
    if (t.shape[d] == 1) continue;
    if (next.is_constant()) {
      next = t.strides[d];
    } else if (t.strides[d] != next.high()) {
      std::int64_t unit = 2;
      while (unit <= 64 && ceil_div(next, unit).high() * unit != t.strides[d]) unit *= 2;
      if (unit > 64)
        fail("{}: the strides {} of {} are not those of extents one after another, and {} of them depend on sizes",
             p.name, graph::to_string(t.strides), t.name, next.text());
      next = ceil_div(next, unit) * unit;
    }
    strides[d] = next;
    next = next * p.extent(tensor, d);
  }
  return strides;
}

std::vector<SizedDimension> dimensions_in(const SizedLayout& base, const SizedLayout& view, const SizeList& sizes,
                                          const std::string& what) {
  std::vector<SizedDimension> all;
  for (int d = 0; d < static_cast<int>(view.shape.size()); ++d) {
    const std::optional<SizedDimension> found = InBase(base, view, sizes, d).find();
    if (!found) {
      std::vector<std::string> extents;
      for (const ExtentFactors& n : base.extents) extents.push_back(product_of(n).text());
      fail("{}: dimension {} of {} is no product or part of the extents ({}) for all sizes", what, d,
           graph::to_string(view.shape), fmt::join(extents, ", "));
    }
    all.push_back(*found);
  }
  return all;
}

}  // namespace zellige::lower
