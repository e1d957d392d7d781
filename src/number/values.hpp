// Defines a tensor's values over any kind of number, and the concept Arithmetic: what a kind of number must
// provide for a graph to be evaluated over it (evaluate_graph.hpp).
//
//   BallArithmetic balls;                       // real numbers with a proved error
//   Values<Ball> y = ...;                       // dense, row-major
#pragma once
#include <concepts>
#include <cstdlib>

#include "graph/graph.hpp"

namespace zellige::number {

/// A dense tensor of numbers, row-major.
template <class Number>
struct NumberTensor {
  graph::Shape shape;
  std::vector<Number> at;
};

/// Returns a tensor with all elements equal to `value`.
template <class Number>
NumberTensor<Number> make_values(const graph::Shape& shape, const Number& value) {
  return {shape, std::vector<Number>(graph::size(shape), value)};
}

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

/// An arithmetic computes with one kind of number, and holds the parameters of that kind, such as the prime
/// of a finite field. The elementwise operators (graph/elementwise.hpp) are defined by these functions.
template <class A>
concept Arithmetic = requires(A& a, const typename A::Number& x, double c, std::int64_t n) {
  { a.integer(n) } -> std::same_as<typename A::Number>;
  { a.constant(c) } -> std::same_as<typename A::Number>;                        // a scalar of the graph
  { a.converted(x, graph::Attributes{}) } -> std::same_as<typename A::Number>;  // a cast
  { a.wrapped(x, 8) } -> std::same_as<typename A::Number>;  // an integer in two's complement of this number of bits
  { a.neg(x) } -> std::same_as<typename A::Number>;
  { a.add(x, x) } -> std::same_as<typename A::Number>;
  { a.sub(x, x) } -> std::same_as<typename A::Number>;
  { a.mul(x, x) } -> std::same_as<typename A::Number>;
  { a.div(x, x) } -> std::same_as<typename A::Number>;
  { a.sqrt(x) } -> std::same_as<typename A::Number>;
  { a.exp(x) } -> std::same_as<typename A::Number>;
  { a.log(x) } -> std::same_as<typename A::Number>;
  { a.pow(x, x) } -> std::same_as<typename A::Number>;
  { a.sin(x) } -> std::same_as<typename A::Number>;
  { a.cos(x) } -> std::same_as<typename A::Number>;
  { a.tanh(x) } -> std::same_as<typename A::Number>;
  { a.abs(x) } -> std::same_as<typename A::Number>;
  { a.normal(x) } -> std::same_as<typename A::Number>;  // the normal cumulative distribution function
  { a.max(x, x) } -> std::same_as<typename A::Number>;
  { a.max_of(std::vector<typename A::Number>{}) } -> std::same_as<typename A::Number>;
  { a.min(x, x) } -> std::same_as<typename A::Number>;
  { a.less(x, x) } -> std::same_as<typename A::Number>;  // comparisons: 1 or 0
  { a.less_equal(x, x) } -> std::same_as<typename A::Number>;
  { a.same(x, x) } -> std::same_as<typename A::Number>;
  // Returns the second argument if the first one is not 0, else the third.
  { a.choose(x, x, x) } -> std::same_as<typename A::Number>;
  { a.whole(x) } -> std::same_as<std::optional<std::int64_t>>;  // its integer value; nullopt: not known
  // Returns the first argument, marked as selected by an integer, the second argument (such as a row index).
  { a.marked(x, x) } -> std::same_as<typename A::Number>;
  { a.one_of(x, n, std::uint64_t{}) } -> std::same_as<typename A::Number>;  // x, as one of n cases
};

}  // namespace zellige::number
