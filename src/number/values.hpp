// Defines the concept Arithmetic: what a kind of number must provide for a graph to be evaluated over it (evaluate_graph.hpp).
#pragma once
#include <concepts>
#include <cstdlib>

#include "graph/graph.hpp"

namespace zellige::number {

/// Returns x to the integer power n, which may be negative.
template <class A, class Number>
Number power(A& a, Number x, int n) {
  Number y = a.integer(1);
  for (int i = std::abs(n); i > 0; i /= 2) {
    if (i % 2) y = a.mul(y, x);
    if (i > 1) x = a.mul(x, x);
  }
  return n < 0 ? a.div(a.integer(1), y) : y;
}

/// Satisfied if all results are numbers of the arithmetic.
template <class A, class... Results>
concept NumbersOf = (std::same_as<Results, typename A::Number> && ...);

/// An arithmetic computes with one kind of number, and holds the parameters of that kind, such as the prime
/// of a finite field. The elementwise operators (graph/elementwise.hpp) are defined by these functions:
///
/// - constant: a scalar of the graph; converted: a cast; wrapped: an integer in two's complement of this number of bits;
/// - normal: the normal cumulative distribution function; less, less_equal, same: 1 or 0;
/// - choose: the second argument if the first one is not 0, else the third;
/// - whole: its integer value; nullopt: not known;
/// - marked: the first argument, as selected by an integer, the second one (such as a row index); one_of: x, as one of n cases.
template <class A>
concept Arithmetic = requires(A& a, const typename A::Number& x, const std::vector<typename A::Number>& all,
                              const graph::Attributes& attributes, double c, std::int64_t n, std::uint64_t place) {
  requires NumbersOf<A, decltype(a.integer(n)), decltype(a.constant(c)), decltype(a.converted(x, attributes)),
                     decltype(a.wrapped(x, 8)), decltype(a.neg(x)), decltype(a.add(x, x)), decltype(a.sub(x, x)),
                     decltype(a.mul(x, x)), decltype(a.div(x, x)), decltype(a.sqrt(x)), decltype(a.exp(x)),
                     decltype(a.log(x)), decltype(a.pow(x, x)), decltype(a.sin(x)), decltype(a.cos(x)),
                     decltype(a.tanh(x)), decltype(a.abs(x)), decltype(a.normal(x)), decltype(a.max(x, x)),
                     decltype(a.max_of(all)), decltype(a.min(x, x)), decltype(a.less(x, x)),
                     decltype(a.less_equal(x, x)), decltype(a.same(x, x)), decltype(a.choose(x, x, x)),
                     decltype(a.marked(x, x)), decltype(a.one_of(x, n, place))>;
  { a.whole(x) } -> std::same_as<std::optional<std::int64_t>>;
};

}  // namespace zellige::number
