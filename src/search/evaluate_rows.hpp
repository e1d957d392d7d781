// Evaluates operators with integer operands over any kind of number (values.hpp), such as a finite field:
// gather and scatter by index, and masks by length. A result that an integer operand selects is marked as
// depending on that operand.
#pragma once
#include <algorithm>

#include "graph/error.hpp"
#include "graph/kept.hpp"
#include "graph/rows.hpp"
#include "number/values.hpp"
#include "reference/array.hpp"
#include "reference/evaluate.hpp"

namespace zellige::search {

/// The type of the numbers of an arithmetic.
template <number::Arithmetic A>
using NumberOf = typename A::Number;
/// A tensor of such numbers.
template <number::Arithmetic A>
using ValuesOf = reference::ArrayOf<NumberOf<A>>;

/// Returns `x` as an integer. Throws Error if `x` is not a known integer, for example because it was computed
/// from inputs. `kind` is the operator that needs the integer, for the message.
template <number::Arithmetic A>
std::int64_t whole_number(A& a, graph::OpKind kind, const NumberOf<A>& x) {
  const std::optional<std::int64_t> n = a.whole(x);
  if (!n) fail("{}: a number that is computed from inputs has no meaning over the reals", graph::name(kind));
  return *n;
}

/// Masks `y` by lengths: sets each element to `fill` whose index in the masked dimension is not below the
/// element's length, or, if the mask has first indices, is below it. `lengths` has the lengths; it broadcasts to the shape of `y`.
template <number::Arithmetic A>
void apply_lengths(A& a, const graph::Attributes& attributes, const ValuesOf<A>& lengths, const NumberOf<A>& fill,
                   ValuesOf<A>& y) {
  const std::size_t j = graph::mask_dims(attributes, y.shape.size()).second;
  const reference::Broadcast walk(y.shape, {{lengths.shape, nullptr}});
  for (std::size_t e = 0; e < y.values.size(); ++e) {
    const auto at = static_cast<std::int64_t>(e), n = walk.row_length();
    const NumberOf<A>& length = lengths.values[walk.start(at / n, 0) + at % n * walk.step(0)];
    const std::int64_t position = graph::coordinates(at, y.shape)[j] + attributes.start;
    const bool below = position < whole_number(a, graph::OpKind::mask, length);
    y.values[e] = a.marked(below != attributes.kept.first ? y.values[e] : fill, length);
  }
}

/// Evaluates a gather, scatter or slice_scatter into `y`, whose shape is set. Throws Error if an index is out
/// of range or not a known integer.
template <number::Arithmetic A>
void evaluate_rows(A& a, graph::OpKind kind, const graph::Attributes& attributes,
                   const std::vector<const ValuesOf<A>*>& in, ValuesOf<A>& y) {
  using graph::OpKind;
  const ValuesOf<A>& x = *in[0];
  const std::int64_t rows = x.shape[0], row = graph::size(x.shape) / rows;
  const auto number = [&](const NumberOf<A>& v, std::int64_t bound) {
    const std::int64_t n = whole_number(a, kind, v);
    if (n < 0 || n >= bound) fail("{}: there is no row {} of {}", graph::name(kind), n, bound);
    return n;
  };
  if (kind == OpKind::gather) {
    for (std::size_t i = 0; i < in[1]->values.size(); ++i) {
      const std::int64_t n = number(in[1]->values[i], rows);
      for (std::int64_t k = 0; k < row; ++k) y.values[i * row + k] = a.marked(x.values[n * row + k], in[1]->values[i]);
    }
    return;
  }
  if (kind == OpKind::scatter) {
    y.values = x.values;
    std::vector<bool> written(rows, false);
    for (std::size_t i = 0; i < in[1]->values.size(); ++i) {
      const std::int64_t n = number(in[1]->values[i], rows);
      written[n] = true;
      for (std::int64_t k = 0; k < row; ++k)
        y.values[n * row + k] = a.marked(in[2]->values[i * row + k], in[1]->values[i]);
    }
    for (std::int64_t r = 0; r < rows; ++r)  // a row that is not written: one of `rows` cases
      for (std::int64_t k = 0; k < row && !written[r]; ++k)
        y.values[r * row + k] = a.one_of(y.values[r * row + k], rows, static_cast<std::uint64_t>(r));
    return;
  }
  const ValuesOf<A>& part = *in[1];
  const std::int64_t last = y.shape[attributes.dim] - part.shape[attributes.dim];
  const std::int64_t start = in.size() > 2 ? number(in[2]->values[0], last + 1) : attributes.start;
  y.values = x.values;
  reference::copy_part(y.shape, part.shape, attributes.dim, start, [&](std::int64_t w, std::int64_t p, std::int64_t n) {
    std::copy_n(&part.values[p], n, &y.values[w]);
  });
  if (in.size() > 2)
    for (NumberOf<A>& v : y.values) v = a.marked(v, in[2]->values[0]);
}

}  // namespace zellige::search
