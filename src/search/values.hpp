// A tensor's values over any kind of number, and what a kind of number must be able to do for a graph to be
// evaluated over it.
//
//   BallArithmetic balls;                       // real numbers with a proved error
//   Values<Ball> y = ...;                       // dense, row-major
#pragma once
#include <concepts>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::search {

template <class Number>
struct Values {
  graph::Shape shape;
  std::vector<Number> at;
};

template <class Number>
Values<Number> make_values(const graph::Shape& shape, const Number& value) {
  return {shape, std::vector<Number>(static_cast<std::size_t>(graph::size(shape)), value)};
}

/// An arithmetic holds what its numbers share: a field its prime, a float its precision.
template <class A>
concept Arithmetic = requires(A& a, const typename A::Number& x, double c, std::int64_t n, graph::OpKind kind,
                              const graph::Attributes& attributes) {
  { a.integer(n) } -> std::same_as<typename A::Number>;
  { a.constant(c) } -> std::same_as<typename A::Number>;  // a scalar of the graph
  { a.add(x, x) } -> std::same_as<typename A::Number>;
  { a.sub(x, x) } -> std::same_as<typename A::Number>;
  { a.mul(x, x) } -> std::same_as<typename A::Number>;
  { a.div(x, x) } -> std::same_as<typename A::Number>;
  { a.sqrt(x) } -> std::same_as<typename A::Number>;
  { a.exp(x) } -> std::same_as<typename A::Number>;
  { a.max(x, x) } -> std::same_as<typename A::Number>;
  { a.pow(x, x) } -> std::same_as<typename A::Number>;
  { a.function(kind, attributes, x) } -> std::same_as<typename A::Number>;  // gelu, relu, clamp, log
};

}  // namespace zellige::search
