// The operators of the table, and compositions that rules look for, as functions of one tensor of rows; and graphs in which two
// or three of them share an input, or follow each other, with every result an output.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "graph/builder.hpp"
#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"

namespace zellige::fuse::test {

using graph::DType;
using graph::OpKind;
using graph::TensorHandle;

struct RowOperator {
  std::string name;
  std::function<TensorHandle(TensorHandle)> of;
};

/// Rows without those that an operator before has dropped.
inline TensorHandle as_rows(TensorHandle x) { return x.shape().size() < 2 ? reshape(x, {1, x.shape().back()}) : x; }

inline TensorHandle applied(OpKind kind, std::vector<TensorHandle> in, const graph::Attributes& a = {}) {
  return graph::append<graph::KernelLevel>(kind, std::move(in), a)[0];
}

inline void add_elementwise(OpKind kind, std::vector<RowOperator>& all) {
  const std::string name(graph::name(kind));
  const int operands = graph::elementwise(kind).operands;
  if (kind == OpKind::where) {
    all.push_back({name, [](TensorHandle x) { return where(gt(x, 0.25), x, 0.5); }});
  } else if (kind == OpKind::cast) {
    all.push_back({"cast_saturate", [](TensorHandle x) { return cast(x, x.dtype(), true); }});
    all.push_back({"cast_f32", [](TensorHandle x) { return cast(x, DType::f32); }});
    all.push_back({"cast_bf16", [](TensorHandle x) { return cast(x, DType::bf16); }});
  } else if (operands == 1) {
    all.push_back(
        {name, [kind](TensorHandle x) { return applied(kind, {x}, {.scalar = -0.75, .lo = -0.75, .hi = 1.5}); }});
  } else {
    all.push_back({name + "_itself", [kind](TensorHandle x) { return applied(kind, {x, x}); }});
    all.push_back({name + "_abs", [kind](TensorHandle x) { return applied(kind, {x, abs(x)}); }});
    if (graph::elementwise(kind).scalar)
      all.push_back({name + "_scalar", [kind](TensorHandle x) { return applied(kind, {x}, {.scalar = 2}); }});
  }
}

/// Spellings of one operator as several, which rules look for.
inline void add_spellings(std::vector<RowOperator>& all) {
  const auto along = [](TensorHandle x) { return static_cast<int>(x.shape().size()) - 1; };
  all.push_back({"sigmoid_of_exp", [](TensorHandle x) { return pow(exp(-x) + 1.0, -1.0); }});
  all.push_back({"silu_of_sigmoid", [](TensorHandle x) { return sigmoid(x) * x; }});
  all.push_back({"silu_of_exp", [](TensorHandle x) { return x / (exp(-x) + 1.0); }});
  all.push_back({"gelu_of_tanh", [](TensorHandle x) {
                   return (tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1.0) * (x * 0.5);
                 }});
  all.push_back({"softmax_of_max", [along](TensorHandle x) {
                   const TensorHandle e = exp(x - amax(x, along(x), true));
                   return e / sum(e, along(x), true);
                 }});
  all.push_back({"softmax_of_logsumexp", [along](TensorHandle x) { return exp(x - logsumexp(x, along(x), true)); }});
  all.push_back({"softmax_of_log_softmax", [along](TensorHandle x) { return exp(log_softmax(x, along(x))); }});
  all.push_back({"log_of_softmax", [along](TensorHandle x) { return log(softmax(x, along(x))); }});
  all.push_back({"centred", [along](TensorHandle x) { return x - mean(x, along(x), true); }});
  all.push_back({"variance", [along](TensorHandle x) { return mean(square(x - mean(x, along(x), true)), along(x)); }});
  all.push_back({"two_factors", [](TensorHandle x) { return x * 4.0 * 0.3; }});
  all.push_back({"there_and_back",
                 [](TensorHandle x) { return reshape(relu(reshape(x, {graph::size(x.shape())})), x.shape()); }});
}

/// Operators of several operands, which are the rows themselves, turned or in part.
inline void add_of_parts(std::vector<RowOperator>& all) {
  const auto along = [](TensorHandle x) { return static_cast<int>(x.shape().size()) - 1; };
  const auto half = [along](TensorHandle x, bool second) {
    const std::int64_t n = x.shape().back() / 2;
    return slice(x, along(x), second ? n : 0, second ? 2 * n : n);
  };
  all.push_back({"gram", [](TensorHandle x) { return matmul(as_rows(x), permute(as_rows(x), {1, 0})); }});
  all.push_back({"scores", [](TensorHandle x) { return softmax(matmul(as_rows(x), permute(as_rows(x), {1, 0})), 1); }});
  all.push_back({"rotary", [half](TensorHandle x) { return rotary(x, half(x, true), half(x, false)); }});
  all.push_back(
      {"rotary_interleaved", [half](TensorHandle x) { return rotary_interleaved(x, half(x, true), half(x, false)); }});
  all.push_back({"halves", [half, along](TensorHandle x) { return concat(half(x, true), half(x, false), along(x)); }});
  all.push_back({"expand", [along](TensorHandle x) { return expand(amax(x, along(x), true), x.shape()); }});
  all.push_back({"first_row", [](TensorHandle x) { return as_rows(x) * slice(as_rows(x), 0, 0, 1); }});
  all.push_back({"sum_of_columns", [](TensorHandle x) { return sum(as_rows(x), 0); }});
  all.push_back({"softmax_of_columns", [](TensorHandle x) { return softmax(as_rows(x), 0); }});
  all.push_back(
      {"sum_of_scaled", [along](TensorHandle x) { return sum(x * amax(x, along(x), true), along(x), true); }});
  all.push_back({"gram_of_scaled", [along](TensorHandle x) {
                   return matmul(as_rows(x / sqrt(sum(square(x), along(x), true))), permute(as_rows(x), {1, 0}));
                 }});
  all.push_back({"mean_of_all", [](TensorHandle x) { return mean(as_rows(x), {0, 1}, true); }});
  all.push_back({"variance_with_mean", [along](TensorHandle x) {
                   const TensorHandle m = mean(x, along(x), true);
                   return mean(square(x - m), along(x), true) + m;
                 }});
}

/// Returns all of them.
inline const std::vector<RowOperator>& row_operators() {
  static const std::vector<RowOperator> operators = [] {
    std::vector<RowOperator> all;
    for (const OpKind kind : graph::all_ops()) {
      const std::string name(graph::name(kind));
      if (!graph::info(kind).kernel) continue;
      if (graph::is_elementwise(kind)) {
        add_elementwise(kind, all);
      } else if (graph::reduces(kind)) {
        for (const bool keep : {false, true})
          all.push_back({name + (keep ? "_kept" : ""), [kind, keep](TensorHandle x) {
                           return applied(kind, {x}, {.dim = static_cast<int>(x.shape().size()) - 1, .keepdim = keep});
                         }});
      } else if (kind == OpKind::rms_norm || kind == OpKind::layer_norm) {
        all.push_back({name, [kind](TensorHandle x) { return applied(kind, {x}, {.eps = 1e-5}); }});
      } else if (graph::is_composed(kind) && graph::info(kind).inputs == 1) {
        all.push_back({name, [kind](TensorHandle x) {
                         return applied(kind, {x}, {.dim = static_cast<int>(x.shape().size()) - 1});
                       }});
      }
    }
    all.push_back({"mask", [](TensorHandle x) { return mask(as_rows(x), {.tril = 1}); }});
    all.push_back({"permute", [](TensorHandle x) { return permute(as_rows(x), {1, 0}); }});
    all.push_back({"slice", [](TensorHandle x) { return slice(x, 0, 0, (x.shape()[0] + 1) / 2); }});
    all.push_back({"concat", [](TensorHandle x) { return concat(x, x, 0); }});
    all.push_back({"reshape", [](TensorHandle x) { return reshape(x, {graph::size(x.shape())}); }});
    add_spellings(all);
    add_of_parts(all);
    return all;
  }();
  return operators;
}

/// Rows, and rows that are split over blocks or several tiles: over 2,048 elements.
struct Rows {
  std::int64_t rows, columns;
};
inline constexpr Rows shapes_of_rows[] = {{4, 8}, {3, 100}, {2, 4096}, {5, 2500}, {64, 64}, {1, 3000}, {7, 1}};
inline constexpr DType dtypes_of_rows[] = {DType::f32, DType::f16, DType::bf16};

/// How several operators read one input.
enum class Arranged : std::uint8_t { parallel, chained };

/// Adds operators on one input to a graph, every result an output. Chained: the second reads the result of the first, and a
/// third one the shared input again. Returns their names.
inline std::string add(graph::Builder& b, const std::vector<int>& which, Arranged how, Rows rows, DType dtype,
                       const std::string& suffix = "") {
  const TensorHandle x = b.input("x" + suffix, {rows.rows, rows.columns}, dtype);
  TensorHandle last = x;
  std::string name;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const RowOperator& o = row_operators().at(static_cast<std::size_t>(which[i]));
    last = o.of(how == Arranged::chained && i == 1 ? last : x);
    b.output(last, fmt::format("y{}{}", i, suffix));
    name += (i == 0 ? "" : how == Arranged::chained && i == 1 ? " then " : " beside ") + o.name;
  }
  return fmt::format("{} of {} x {} {}", name, rows.rows, rows.columns, graph::name(dtype));
}

}  // namespace zellige::fuse::test
