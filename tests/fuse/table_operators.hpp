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
using graph::Tensor;

struct RowOperator {
  std::string name;
  std::function<Tensor(Tensor)> of;
};

/// Rows without those that an operator before has dropped.
inline Tensor as_rows(Tensor x) { return x.shape().size() < 2 ? reshape(x, {1, x.shape().back()}) : x; }

inline Tensor applied(OpKind kind, std::vector<Tensor> in, const graph::Attributes& a = {}) {
  return graph::append<graph::KernelLevel>(kind, std::move(in), a)[0];
}

inline void add_elementwise(OpKind kind, std::vector<RowOperator>& all) {
  const std::string name(graph::name(kind));
  const int operands = graph::elementwise(kind).operands;
  if (kind == OpKind::where) {
    all.push_back({name, [](Tensor x) { return where(gt(x, 0.25), x, 0.5); }});
  } else if (kind == OpKind::cast) {
    all.push_back({"cast_saturate", [](Tensor x) { return cast(x, x.dtype(), true); }});
    all.push_back({"cast_f32", [](Tensor x) { return cast(x, DType::f32); }});
    all.push_back({"cast_bf16", [](Tensor x) { return cast(x, DType::bf16); }});
  } else if (operands == 1) {
    all.push_back({name, [kind](Tensor x) { return applied(kind, {x}, {.scalar = -0.75, .lo = -0.75, .hi = 1.5}); }});
  } else {
    all.push_back({name + "_itself", [kind](Tensor x) { return applied(kind, {x, x}); }});
    all.push_back({name + "_abs", [kind](Tensor x) { return applied(kind, {x, abs(x)}); }});
    if (graph::elementwise(kind).scalar)
      all.push_back({name + "_scalar", [kind](Tensor x) { return applied(kind, {x}, {.scalar = 2}); }});
  }
}

/// Spellings of one operator as several, which rules look for.
inline void add_spellings(std::vector<RowOperator>& all) {
  const auto along = [](Tensor x) { return static_cast<int>(x.shape().size()) - 1; };
  all.push_back({"sigmoid_of_exp", [](Tensor x) { return pow(exp(-x) + 1.0, -1.0); }});
  all.push_back({"silu_of_sigmoid", [](Tensor x) { return sigmoid(x) * x; }});
  all.push_back({"silu_of_exp", [](Tensor x) { return x / (exp(-x) + 1.0); }});
  all.push_back({"gelu_of_tanh",
                 [](Tensor x) { return (tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1.0) * (x * 0.5); }});
  all.push_back({"softmax_of_max", [along](Tensor x) {
                   const Tensor e = exp(x - amax(x, along(x), true));
                   return e / sum(e, along(x), true);
                 }});
  all.push_back({"softmax_of_logsumexp", [along](Tensor x) { return exp(x - logsumexp(x, along(x), true)); }});
  all.push_back({"softmax_of_log_softmax", [along](Tensor x) { return exp(log_softmax(x, along(x))); }});
  all.push_back({"log_of_softmax", [along](Tensor x) { return log(softmax(x, along(x))); }});
  all.push_back({"centred", [along](Tensor x) { return x - mean(x, along(x), true); }});
  all.push_back({"variance", [along](Tensor x) { return mean(square(x - mean(x, along(x), true)), along(x)); }});
  all.push_back({"two_factors", [](Tensor x) { return x * 4.0 * 0.3; }});
  all.push_back(
      {"there_and_back", [](Tensor x) { return reshape(relu(reshape(x, {graph::size(x.shape())})), x.shape()); }});
}

/// Operators of several operands, which are the rows themselves, turned or in part.
inline void add_of_parts(std::vector<RowOperator>& all) {
  const auto along = [](Tensor x) { return static_cast<int>(x.shape().size()) - 1; };
  const auto half = [along](Tensor x, bool second) {
    const std::int64_t n = x.shape().back() / 2;
    return slice(x, along(x), second ? n : 0, second ? 2 * n : n);
  };
  all.push_back({"gram", [](Tensor x) { return matmul(as_rows(x), permute(as_rows(x), {1, 0})); }});
  all.push_back({"scores", [](Tensor x) { return softmax(matmul(as_rows(x), permute(as_rows(x), {1, 0})), 1); }});
  all.push_back({"rotary", [half](Tensor x) { return rotary(x, half(x, true), half(x, false)); }});
  all.push_back(
      {"rotary_interleaved", [half](Tensor x) { return rotary_interleaved(x, half(x, true), half(x, false)); }});
  all.push_back({"halves", [half, along](Tensor x) { return concat(half(x, true), half(x, false), along(x)); }});
  all.push_back({"expand", [along](Tensor x) { return expand(amax(x, along(x), true), x.shape()); }});
  all.push_back({"first_row", [](Tensor x) { return as_rows(x) * slice(as_rows(x), 0, 0, 1); }});
  all.push_back({"sum_of_columns", [](Tensor x) { return sum(as_rows(x), 0); }});
  all.push_back({"softmax_of_columns", [](Tensor x) { return softmax(as_rows(x), 0); }});
  all.push_back({"sum_of_scaled", [along](Tensor x) { return sum(x * amax(x, along(x), true), along(x), true); }});
  all.push_back({"gram_of_scaled", [along](Tensor x) {
                   return matmul(as_rows(x / sqrt(sum(square(x), along(x), true))), permute(as_rows(x), {1, 0}));
                 }});
  all.push_back({"mean_of_all", [](Tensor x) { return mean(as_rows(x), {0, 1}, true); }});
  all.push_back({"variance_with_mean", [along](Tensor x) {
                   const Tensor m = mean(x, along(x), true);
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
          all.push_back({name + (keep ? "_kept" : ""), [kind, keep](Tensor x) {
                           return applied(kind, {x}, {.dim = static_cast<int>(x.shape().size()) - 1, .keepdim = keep});
                         }});
      } else if (kind == OpKind::rms_norm || kind == OpKind::layer_norm) {
        all.push_back({name, [kind](Tensor x) { return applied(kind, {x}, {.eps = 1e-5}); }});
      } else if (graph::is_composed(kind) && graph::info(kind).inputs == 1) {
        all.push_back(
            {name, [kind](Tensor x) { return applied(kind, {x}, {.dim = static_cast<int>(x.shape().size()) - 1}); }});
      }
    }
    all.push_back({"mask", [](Tensor x) { return mask(as_rows(x), {.tril = 1}); }});
    all.push_back({"permute", [](Tensor x) { return permute(as_rows(x), {1, 0}); }});
    all.push_back({"slice", [](Tensor x) { return slice(x, 0, 0, (x.shape()[0] + 1) / 2); }});
    all.push_back({"concat", [](Tensor x) { return concat(x, x, 0); }});
    all.push_back({"reshape", [](Tensor x) { return reshape(x, {graph::size(x.shape())}); }});
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
  const Tensor x = b.input("x" + suffix, {rows.rows, rows.columns}, dtype);
  Tensor last = x;
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
