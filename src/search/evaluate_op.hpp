// What each operator without a state means, over any kind of number. graph/evaluate.cpp defines the same in
// float64, made for speed; evaluate_test.cpp holds one to the other.
#pragma once
#include <algorithm>

#include "graph/error.hpp"
#include "graph/ops.hpp"
#include "search/values.hpp"

namespace zellige::search {

/// A shape around one dimension: outer x extent x inner.
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;
  Around(const graph::Shape& shape, int dim) : extent(shape[dim]) {
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (d != dim) (d < dim ? outer : inner) *= shape[d];
  }
};

template <Arithmetic A>
using NumberOf = typename A::Number;

template <Arithmetic A>
NumberOf<A> unary(A& a, graph::OpKind kind, const graph::Attributes& attributes, const NumberOf<A>& x) {
  using graph::OpKind;
  const auto sigmoid = [&] {
    return a.div(a.integer(1), a.add(a.integer(1), a.exp(a.sub(a.integer(0), x))));
  };
  switch (kind) {
    case OpKind::exp:
      return a.exp(x);
    case OpKind::square:
      return a.mul(x, x);
    case OpKind::sqrt:
      return a.sqrt(x);
    case OpKind::mul_scalar:
      return a.mul(x, a.constant(attributes.scalar));
    case OpKind::sigmoid:
      return sigmoid();
    case OpKind::silu:
      return a.mul(x, sigmoid());
    default:
      return a.function(kind, attributes, x);
  }
}

template <Arithmetic A>
NumberOf<A> binary(A& a, graph::OpKind kind, const NumberOf<A>& x, const NumberOf<A>& y) {
  using graph::OpKind;
  switch (kind) {
    case OpKind::add:
      return a.add(x, y);
    case OpKind::sub:
      return a.sub(x, y);
    case OpKind::mul:
      return a.mul(x, y);
    case OpKind::div:
      return a.div(x, y);
    case OpKind::pow:
      return a.pow(x, y);
    default:
      fail("{}: `equal` has no meaning for this operator of two operands", graph::name(kind));
  }
}

/// y = f(x, z), a dimension of 1 broadcast.
template <class N, class F>
void broadcast(const Values<N>& x, const Values<N>& z, Values<N>& y, const F& f) {
  const std::size_t rank = y.shape.size();
  if (x.shape.size() != rank || z.shape.size() != rank)
    fail("`equal` has no meaning for operands of different rank, {} and {}", graph::to_string(x.shape),
         graph::to_string(z.shape));
  graph::Strides sx = graph::row_major(x.shape), sz = graph::row_major(z.shape);
  for (std::size_t d = 0; d < rank; ++d) {
    if (x.shape[d] == 1) sx[d] = 0;
    if (z.shape[d] == 1) sz[d] = 0;
  }
  for (std::size_t i = 0; i < y.at.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), ix = 0, iz = 0;
    for (std::size_t d = rank; d-- > 0; rest /= y.shape[d]) {
      ix += rest % y.shape[d] * sx[d];
      iz += rest % y.shape[d] * sz[d];
    }
    y.at[i] = f(x.at[ix], z.at[iz]);
  }
}

template <Arithmetic A>
void matmul(A& a, const Values<NumberOf<A>>& x, const Values<NumberOf<A>>& z, Values<NumberOf<A>>& y) {
  const std::size_t r = x.shape.size();
  if (z.shape.size() != r || !std::equal(x.shape.begin(), x.shape.end() - 2, z.shape.begin()))
    fail("`equal` has no meaning for a matmul of {} and {}", graph::to_string(x.shape),
         graph::to_string(z.shape));
  const std::int64_t m = x.shape[r - 2], k = x.shape[r - 1], n = z.shape[r - 1];
  for (std::int64_t row = 0; row < graph::size(x.shape) / k; ++row)
    for (std::int64_t j = 0; j < n; ++j) {
      NumberOf<A> sum = a.integer(0);
      for (std::int64_t p = 0; p < k; ++p)
        sum = a.add(sum, a.mul(x.at[row * k + p], z.at[(row / m * k + p) * n + j]));
      y.at[row * n + j] = sum;
    }
}

/// y[..., j, ...] += f(x[..., j + k to, ...]) summed over k, along `dim`; f is the identity or the square.
template <Arithmetic A>
void fold(A& a, const Values<NumberOf<A>>& x, int dim, bool squared, Values<NumberOf<A>>& y) {
  const Around from(x.shape, dim);
  const std::int64_t to = y.shape[dim];
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::int64_t e = 0; e < from.extent; ++e)
      for (std::int64_t i = 0; i < from.inner; ++i) {
        const NumberOf<A>& v = x.at[(o * from.extent + e) * from.inner + i];
        NumberOf<A>& sum = y.at[(o * to + e % to) * from.inner + i];
        sum = a.add(sum, squared ? a.mul(v, v) : v);
      }
}

/// y = max(y, max of x along `dim`); dim -1: element by element.
template <Arithmetic A>
void fold_max(A& a, const Values<NumberOf<A>>& x, int dim, Values<NumberOf<A>>& y) {
  const Around from = dim < 0 ? Around({1, 1, graph::size(x.shape)}, 1) : Around(x.shape, dim);
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::int64_t e = 0; e < from.extent; ++e)
      for (std::int64_t i = 0; i < from.inner; ++i) {
        NumberOf<A>& most = y.at[o * from.inner + i];
        most = a.max(most, x.at[(o * from.extent + e) * from.inner + i]);
      }
}

template <Arithmetic A>
void rms_norm(A& a, const Values<NumberOf<A>>& x, Values<NumberOf<A>>& y) {
  const std::int64_t n = x.shape.back();
  for (std::int64_t row = 0; row < graph::size(x.shape) / n; ++row) {
    NumberOf<A> squares = a.integer(0);
    for (std::int64_t i = row * n; i < (row + 1) * n; ++i) squares = a.add(squares, a.mul(x.at[i], x.at[i]));
    const NumberOf<A> rms = a.sqrt(a.div(squares, a.integer(n)));
    for (std::int64_t i = row * n; i < (row + 1) * n; ++i) y.at[i] = a.div(x.at[i], rms);
  }
}

/// Calls copy(index in the whole, index in the part) for each element of a part that lies at `offset` along
/// `dim`.
template <class Copy>
void each_of_part(const graph::Shape& whole, const graph::Shape& part, int dim, std::int64_t offset,
                  const Copy& copy) {
  const Around w(whole, dim), p(part, dim);
  for (std::int64_t o = 0; o < w.outer; ++o)
    for (std::int64_t i = 0; i < p.extent * p.inner; ++i)
      copy((o * w.extent + offset) * w.inner + i, o * p.extent * p.inner + i);
}

/// Any operator without a state: neither boundary, custom, accumulator nor reduction_max. The results' shapes
/// stand.
template <Arithmetic A>
void evaluate_op(A& a, graph::OpKind kind, const graph::Attributes& attributes,
                 const std::vector<const Values<NumberOf<A>>*>& in,
                 const std::vector<Values<NumberOf<A>>*>& out) {
  using graph::OpKind;
  const Values<NumberOf<A>>& x = *in[0];
  Values<NumberOf<A>>& y = *out[0];
  // An operator that has grown since is not taken for what it was.
  const std::size_t operands = graph::is_binary(kind) || kind == OpKind::matmul ? 2 : 1;
  if (kind != OpKind::concat && in.size() != operands)
    fail("{}: `equal` has no meaning for this operator of {} operands", graph::name(kind), in.size());
  if (graph::is_unary(kind)) {
    for (std::size_t i = 0; i < x.at.size(); ++i) y.at[i] = unary(a, kind, attributes, x.at[i]);
  } else if (graph::is_binary(kind)) {
    broadcast(x, *in[1], y, [&](const auto& p, const auto& q) { return binary(a, kind, p, q); });
  } else if (kind == OpKind::matmul) {
    matmul(a, x, *in[1], y);
  } else if (kind == OpKind::reduction) {
    y.at.assign(y.at.size(), a.integer(0));
    fold(a, x, attributes.dim, false, y);
  } else if (kind == OpKind::rms_norm) {
    rms_norm(a, x, y);
  } else if (kind == OpKind::concat || kind == OpKind::split) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < (kind == OpKind::concat ? in.size() : out.size()); ++i) {
      const graph::Shape& part = kind == OpKind::concat ? in[i]->shape : out[i]->shape;
      const graph::Shape& whole = kind == OpKind::concat ? y.shape : x.shape;
      each_of_part(whole, part, attributes.dim, offset, [&](std::int64_t w, std::int64_t p) {
        if (kind == OpKind::concat)
          y.at[w] = in[i]->at[p];
        else
          out[i]->at[p] = x.at[w];
      });
      offset += part[attributes.dim];
    }
  } else {
    fail("{}: `equal` has no meaning for this operator", graph::name(kind));
  }
}

}  // namespace zellige::search
