// Evaluates every stateless operator over any kind of number (values.hpp): real numbers with an error bound, or finite
// fields. reference/evaluate.cpp evaluates the same operators in float64, optimized for speed; numbers_test.cpp checks
// that the two files agree. Both use the table of elementwise operators (graph/elementwise.hpp).
#pragma once
#include <algorithm>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/error.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/unfold.hpp"
#include "number/fraction.hpp"
#include "number/values.hpp"
#include "reference/evaluate.hpp"
#include "search/evaluate_rows.hpp"

namespace zellige::search {

/// Evaluates an elementwise operator on `tensors` into `y`, whose shape is set. Dimensions correspond from
/// the last one; missing dimensions and dimensions of extent 1 are broadcast.
template <number::Arithmetic A>
void map(A& a, graph::OpKind kind, const graph::Attributes& attributes, const std::vector<const ValuesOf<A>*>& tensors,
         ValuesOf<A>& y) {
  std::vector<const ValuesOf<A>*> in = tensors;
  ValuesOf<A> scalar;
  if (graph::takes_scalar(kind, in.size())) {
    const bool compares = graph::elementwise(kind).spread == graph::Spread::step;
    scalar = reference::make_array(
        graph::Shape{1}, a.constant(compares ? number::compared_scalar(attributes.scalar) : attributes.scalar));
    in.push_back(&scalar);
  }
  std::vector<reference::OperandValues> shapes;
  for (const auto* x : in) shapes.push_back({x->shape, nullptr});
  const reference::Broadcast walk(y.shape, shapes);
  std::vector<NumberOf<A>> operands(in.size(), a.integer(0));
  graph::with_elementwise(kind, [&](const auto& meaning, auto) {
    for (std::int64_t row = 0; row < walk.rows(); ++row)
      for (std::int64_t i = 0; i < walk.row_length(); ++i) {
        for (std::size_t k = 0; k < in.size(); ++k) operands[k] = in[k]->values[walk.start(row, k) + i * walk.step(k)];
        y.values[row * walk.row_length() + i] =
            meaning(a, attributes, static_cast<const NumberOf<A>*>(operands.data()));
      }
  });
}

/// Evaluates the (batched) matmul of x and z into `y`, whose shape is set.
template <number::Arithmetic A>
void matmul(A& a, const ValuesOf<A>& x, const ValuesOf<A>& z, ValuesOf<A>& y) {
  const graph::MatmulShapes of = graph::matrices(x.shape, z.shape);
  const std::int64_t m = of.product[of.product.size() - 2], k = x.shape.back(), n = of.product.back();
  const reference::Batches batches(of);
  for (std::int64_t t = 0; t < batches.count(); ++t)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto* row = &x.values[(batches.a[t] * m + i) * k];
        const auto* column = &z.values[batches.b[t] * k * n + j];
        NumberOf<A>& result = y.values[(t * m + i) * n + j];
        if constexpr (requires { typename A::Dot; }) {
          typename A::Dot sum(a);
          for (std::int64_t p = 0; p < k; ++p) sum.add(row[p], column[p * n]);
          result = sum.value();
        } else {
          result = a.integer(0);
          for (std::int64_t p = 0; p < k; ++p) result = a.add(result, a.mul(row[p], column[p * n]));
        }
      }
}

/// Joins elements of x along `dim` to y: y[..., j, ...] and f(x[..., j + k * to, ...]) over all k. `to` is the extent of
/// y along `dim`; f(v) is v^2 if `squares`, else v.
template <number::Arithmetic A>
void fold(A& a, const graph::Monoid& of, const ValuesOf<A>& x, int dim, bool squares, ValuesOf<A>& y) {
  const reference::Around from(x.shape, dim);
  const std::int64_t to = y.shape[dim];
  const graph::Attributes none;
  std::vector<NumberOf<A>> both(graph::max_operands, a.integer(0));
  graph::with_elementwise(of.join, [&](const auto& meaning, auto) {
    for (std::int64_t o = 0; o < from.outer; ++o)
      for (std::int64_t e = 0; e < from.extent; ++e)
        for (std::int64_t i = 0; i < from.inner; ++i) {
          const NumberOf<A>& v = x.values[(o * from.extent + e) * from.inner + i];
          NumberOf<A>& joined = y.values[(o * to + e % to) * from.inner + i];
          both[0] = joined, both[1] = squares ? a.mul(v, v) : v;
          joined = meaning(a, none, static_cast<const NumberOf<A>*>(both.data()));
        }
  });
}

/// Sets y to the maximum of x along `dim`, or with dim = -1 to x itself. If `fresh` is false, the maximum
/// includes the previous value of y.
template <number::Arithmetic A>
void fold_max(A& a, const ValuesOf<A>& x, int dim, bool fresh, ValuesOf<A>& y) {
  const reference::Around from =
      dim < 0 ? reference::Around({1, 1, graph::size(x.shape)}, 1) : reference::Around(x.shape, dim);
  std::vector<NumberOf<A>> all;
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::int64_t i = 0; i < from.inner; ++i) {
      NumberOf<A>& maximum = y.values[o * from.inner + i];
      all.clear();
      if (!fresh) all.push_back(maximum);
      for (std::int64_t e = 0; e < from.extent; ++e) all.push_back(x.values[(o * from.extent + e) * from.inner + i]);
      maximum = a.max_of(all);
    }
}

/// Evaluates a view.
template <number::Arithmetic A>
void show(A& a, graph::OpKind kind, const graph::Attributes& attributes, const ValuesOf<A>& x, ValuesOf<A>& y) {
  if (kind == graph::OpKind::unfold)
    graph::copy_windows(attributes, x.shape, x.values.data(), y.shape, y.values.data(), a.integer(0));
  else
    reference::copy_view(kind, attributes, x.shape, x.values.data(), y.shape, y.values.data());
}

/// Evaluates a cast to integers that does not saturate, of operands with the dtype `from`. Integers stay as they are: each dtype but
/// bool holds them modulo a power of two (`wrapped` in evaluate_graph.hpp).
template <number::Arithmetic A>
void cast_to_integers(A& a, graph::DType from, graph::DType to, const ValuesOf<A>& x, ValuesOf<A>& y) {
  using enum graph::DType;
  y.values = x.values;
  if (to != boolean && graph::is_integer(from)) return;
  for (NumberOf<A>& v : y.values) v = a.converted(v, {.dtype = to == boolean || to == int64 ? to : int32});
}

template <number::Arithmetic A>
void evaluate_op(A&, graph::OpKind, const graph::Attributes&, graph::DType from,
                 const std::vector<const ValuesOf<A>*>& in, const std::vector<ValuesOf<A>*>& out);

/// Evaluates an operator that is composed of others, step by step.
template <number::Arithmetic A>
void evaluate_composed(A& a, graph::OpKind kind, const graph::Attributes& attributes, graph::DType from,
                       const std::vector<const ValuesOf<A>*>& in, ValuesOf<A>& y) {
  std::vector<graph::Shape> shapes;
  std::vector<ValuesOf<A>> values;
  for (const auto* operand : in) shapes.push_back(operand->shape), values.push_back(*operand);
  const std::vector<graph::ComposedStep> steps = graph::compose(kind, attributes, shapes);
  for (const graph::Shape& shape : graph::step_shapes(steps, shapes))
    values.push_back(reference::make_array(shape, a.integer(0)));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<const ValuesOf<A>*> tensors;
    for (int k : steps[i].inputs) tensors.push_back(&values[k]);
    evaluate_op(a, steps[i].kind, steps[i].attributes, from, tensors, {&values[in.size() + i]});
  }
  y.values = values.back().values;
}

/// Evaluates a stateless operator: one that does not load, store or accumulate, and is not custom. Its
/// operands are `in`, of the dtype `from`, its results `out`, whose shapes must be set. Throws Error if the operator has no
/// meaning over this kind of number.
template <number::Arithmetic A>
void evaluate_op(A& a, graph::OpKind kind, const graph::Attributes& attributes, graph::DType from,
                 const std::vector<const ValuesOf<A>*>& in, const std::vector<ValuesOf<A>*>& out) {
  using graph::OpKind;
  const ValuesOf<A>& x = *in[0];
  ValuesOf<A>& y = *out[0];
  // Reject an operator that has fewer operands than it needs.
  const auto operands = static_cast<std::size_t>(graph::info(kind).inputs);
  if (kind != OpKind::concat && in.size() != operands && !graph::takes_scalar(kind, in.size()) &&
      in.size() + static_cast<std::size_t>(graph::info(kind).optional) < operands)
    fail("{}: `equal` has no meaning for this operator of {} operands", graph::name(kind), in.size());
  if (kind == OpKind::cast && graph::is_integer(attributes.dtype) && !attributes.saturate) {
    cast_to_integers(a, from, attributes.dtype, x, y);
  } else if (graph::is_elementwise(kind)) {
    map(a, kind, attributes, in, y);
  } else if (kind == OpKind::matmul) {
    matmul(a, x, *in[1], y);
    if (in.size() > 2) {
      const ValuesOf<A> product = y;
      map(a, OpKind::add, {}, {&product, in[2]}, y);
    }
  } else if (kind == OpKind::amax && graph::is_primitive_fold(kind, attributes)) {
    fold_max(a, x, attributes.dim, true, y);
  } else if (kind == OpKind::reduction || graph::is_primitive_fold(kind, attributes)) {
    const graph::Monoid& of = graph::monoid_of(kind);
    y.values.assign(y.values.size(), a.constant(of.identity));
    fold(a, of, x, attributes.dim, false, y);
  } else if (graph::is_composed(kind) || kind == OpKind::rotary_interleaved) {
    evaluate_composed(a, kind, attributes, from, in, y);
  } else if (graph::is_view(kind)) {
    show(a, kind, attributes, x, y);
  } else if (kind == OpKind::mask) {
    const auto fill = a.constant(static_cast<double>(static_cast<float>(attributes.value)));
    graph::apply_mask(attributes, y.shape, x.values.data(), fill, y.values.data());
    if (in.size() > 1) apply_lengths(a, attributes, *in[1], fill, y);
  } else if (graph::names_rows(kind)) {
    evaluate_rows(a, kind, attributes, in, y);
  } else if (kind == OpKind::concat || kind == OpKind::split) {
    const bool joins = kind == OpKind::concat;
    std::vector<graph::Shape> parts;
    for (std::size_t i = 0; i < (joins ? in.size() : out.size()); ++i)
      parts.push_back(joins ? in[i]->shape : out[i]->shape);
    reference::copy_parts(joins ? y.shape : x.shape, parts, attributes.dim,
                          [&](std::int64_t w, std::size_t i, std::int64_t p, std::int64_t n) {
                            if (joins)
                              std::copy_n(&in[i]->values[p], n, &y.values[w]);
                            else
                              std::copy_n(&x.values[w], n, &out[i]->values[p]);
                          });
  } else {
    fail("{}: `equal` has no meaning for this operator", graph::name(kind));
  }
}

}  // namespace zellige::search
