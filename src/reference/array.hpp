// Defines Array, a tensor's values on the host, as the float64 reference computes them. Values are float64,
// dense and row-major, whatever the tensor's dtype and strides in device memory are. ArrayOf has values of another kind.
#pragma once
#include <span>

#include "graph/graph.hpp"

namespace zellige::reference {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Number>
struct ArrayOf {
  graph::Shape shape;
  std::vector<Number> values;
};
using Array = ArrayOf<double>;

/// Returns an array of this shape, filled with `value`.
template <class Number = double>
ArrayOf<Number> make_array(graph::Shape shape, const Number& value = {}) {
  const std::int64_t elements = graph::size(shape);
  return {std::move(shape), std::vector<Number>(elements, value)};
}
/// Returns the array with f(x) in place of each element x, which are taken in order.
template <class Number, class F>
auto mapped(const ArrayOf<Number>& a, const F& f) {
  ArrayOf<std::invoke_result_t<F, const Number&>> result{a.shape, {}};
  for (const Number& x : a.values) result.values.push_back(f(x));
  return result;
}

/// The largest absolute value in a set of numbers. `finite` is false if a number is infinite or NaN.
struct Magnitude {
  double greatest = 0;
  bool finite = true;
  /// Returns whether all numbers are finite and at most `limit` in absolute value.
  bool within(double limit) const { return finite && greatest <= limit; }
};

/// Non-finite values of a tensor that may come from a mask (masked.hpp) and so do not count as overflow. `none`: none.
/// `nan`: NaN. `infinity`: NaN, -inf, and the lowest float32, which is the maximum of elements that are all -inf.
enum class Mask : std::uint8_t { none, nan, infinity };

/// Returns the magnitude of some values. Skips non-finite values that may come from a mask (see Mask).
Magnitude magnitude(std::span<const double> values, Mask = Mask::none);
/// Returns the magnitude of the union of two sets of numbers, given the magnitude of each set.
inline Magnitude join(const Magnitude& a, const Magnitude& b) {
  return {a.greatest > b.greatest ? a.greatest : b.greatest, a.finite && b.finite};
}

}  // namespace zellige::reference
