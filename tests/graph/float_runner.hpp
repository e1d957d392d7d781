// Runs a graph in float32, as a kernel would: additions in several orders, functions exact or fast, and
// optionally with a fault. Custom operators have a grid of one block. Shares no code with the reference.
#pragma once
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "graph/dtype.hpp"
#include "graph/ops.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {

/// `fused` multiplies and adds with one rounding; `cut` adds groups of eight exactly and truncates to
/// float32, like tensor cores; `split` adds four parts in random orders, then the parts.
enum class Order { forward, backward, pairs, lanes, shuffled, fused, cut, split };
enum class Bug { none, missing_summand, wrong_index, factor, swapped_rows, half_of_the_partial_sums, stage_read_again };

struct Style {
  Order order = Order::forward;
  bool fast = false;  // exp as 2^(x log2 e), division as a product
  Bug bug = Bug::none;
  int at = 0;  // the bug is in the operator of this number, counted over both levels
  std::uint64_t seed = 1;
};

class FloatRunner {
 public:
  using Values = std::vector<float>;

  FloatRunner(const KernelGraph& g, const Style& s) : g_(g), style_(s), random_(s.seed) {}

  /// Every kernel-level tensor. Sums that may contain a fault are counted in `sums`, operators in
  /// `operators`.
  std::vector<reference::Array> run(const std::vector<reference::Array>& inputs) {
    std::vector<Values> at(g_.tensors.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      at[g_.inputs[i]] = Values(inputs[i].values.begin(), inputs[i].values.end());
    for (const KernelOp& op : g_.ops) {
      if (op.kind == OpKind::custom) {
        block(op, at);
      } else {
        std::vector<Shape> shapes;
        std::vector<const Values*> in;
        for (int t : op.inputs) shapes.push_back(g_.tensors[t].shape), in.push_back(&at[t]);
        at[op.outputs[0]] = evaluate(op.kind, op.attributes, shapes, in, g_.tensors[op.outputs[0]].shape);
      }
      for (int t : op.outputs) round(g_.tensors[t].dtype, at[t]);
    }
    std::vector<reference::Array> result;
    for (std::size_t t = 0; t < at.size(); ++t) result.push_back({g_.tensors[t].shape, {at[t].begin(), at[t].end()}});
    return result;
  }

  int operators = 0;
  bool hit = false;  // the bug's operator was one that can have it

 private:
  static void round(DType dtype, Values& v) {
    for (float& x : v) x = static_cast<float>(round_to(dtype, static_cast<double>(x)));
  }

  bool here(Bug bug) { return style_.bug == bug && operators == style_.at; }

  /// Products of two float32 are exact as doubles.
  float add(const std::vector<double>& exact) {
    float sum = 0;
    if (style_.order == Order::fused) {
      for (double x : exact) sum = static_cast<float>(sum + x);
      return sum;
    }
    if (style_.order == Order::cut) {
      for (std::size_t i = 0; i < exact.size(); i += 8) {
        double group = sum;
        for (std::size_t j = i; j < std::min(i + 8, exact.size()); ++j) group += exact[j];
        sum = static_cast<float>(group);
        if (std::fabs(sum) > std::fabs(group)) sum = std::nextafter(sum, 0.0f);
      }
      return sum;
    }
    std::vector<float> t(exact.begin(), exact.end());
    if (style_.order == Order::backward) std::reverse(t.begin(), t.end());
    if (style_.order == Order::shuffled || style_.order == Order::split) std::shuffle(t.begin(), t.end(), random_);
    if (style_.order == Order::pairs) {
      while (t.size() > 1) {
        std::vector<float> half;
        for (std::size_t i = 0; i + 1 < t.size(); i += 2) half.push_back(t[i] + t[i + 1]);
        if (t.size() % 2) half.push_back(t.back());
        t = std::move(half);
      }
      return t.empty() ? 0 : t[0];
    }
    const std::size_t parts = style_.order == Order::lanes ? 8 : style_.order == Order::split ? 4 : 1;
    float part[8] = {};
    for (std::size_t i = 0; i < t.size(); ++i) part[i % parts] += t[i];
    for (std::size_t i = 0; i < parts; ++i) sum += part[i];
    return sum;
  }

  /// One sum, the bug included; `index` is the element's, `next` the terms with the operand's next row.
  float sum(std::vector<double> t, std::size_t index, const std::vector<double>& next = {}) {
    const std::size_t n = t.size(), quarter = n / 4;
    if (n < 4) return add(t);
    if (here(Bug::missing_summand)) hit = true, t.erase(t.begin() + static_cast<std::ptrdiff_t>(n / 3));
    if (here(Bug::wrong_index) && !next.empty()) hit = true, t[n / 2] = next[n / 2];
    if (here(Bug::half_of_the_partial_sums)) {
      hit = true;
      if (index % 2) t.resize(n - quarter);
    }
    if (here(Bug::stage_read_again))
      hit = true, std::copy_n(t.begin(), quarter, t.begin() + static_cast<std::ptrdiff_t>(quarter));
    return add(t);
  }

  float unary(OpKind kind, const Attributes& a, float x) const {
    const auto e = [&](float v) { return style_.fast ? std::exp2(v * 1.4426950408889634f) : std::exp(v); };
    switch (kind) {
      case OpKind::exp:
        return e(x);
      case OpKind::square:
        return x * x;
      case OpKind::sqrt:
        return std::sqrt(x);
      case OpKind::mul_scalar:
        return x * static_cast<float>(a.scalar);
      case OpKind::sigmoid:
        return 1 / (1 + e(-x));
      case OpKind::silu:
        return x * (1 / (1 + e(-x)));
      case OpKind::gelu:
        return 0.5f * x * std::erfc(-0.70710678118654752f * x);
      case OpKind::relu:
        return x > 0 ? x : 0;
      case OpKind::clamp:
        return std::min(std::max(x, static_cast<float>(a.lo)), static_cast<float>(a.hi));
      case OpKind::log:
        return std::log(x);
      case OpKind::cast:
        return static_cast<float>(round_to(a.dtype, static_cast<double>(x)));
      default:
        return NAN;
    }
  }
  float binary(OpKind kind, float x, float y) const {
    switch (kind) {
      case OpKind::add:
        return x + y;
      case OpKind::sub:
        return x - y;
      case OpKind::mul:
        return x * y;
      case OpKind::div:
        return style_.fast ? x * (1 / y) : x / y;
      case OpKind::pow:
        return std::pow(x, y);
      default:
        return NAN;
    }
  }

  Values evaluate(OpKind kind, const Attributes& a, const std::vector<Shape>& shapes,
                  const std::vector<const Values*>& in, const Shape& out) {
    const Values& x = *in[0];
    const std::int64_t rows = out[0], columns = out[1], inner = shapes[0][1];
    Values y(static_cast<std::size_t>(rows * columns));
    const auto at = [](const Values& v, const Shape& s, std::int64_t i, std::int64_t j) {
      return v[static_cast<std::size_t>((s[0] == 1 ? 0 : i) * s[1] + (s[1] == 1 ? 0 : j))];
    };
    for (std::int64_t i = 0; i < rows; ++i) {
      float rms = 0, maximum = -INFINITY, whole = 0;
      if (kind == OpKind::softmax) {
        std::vector<double> t;
        for (std::int64_t j = 0; j < columns; ++j) maximum = std::max(maximum, at(x, out, i, j));
        for (std::int64_t j = 0; j < columns; ++j) t.push_back(unary(OpKind::exp, a, at(x, out, i, j) - maximum));
        whole = sum(t, static_cast<std::size_t>(i));
      }
      if (kind == OpKind::rms_norm) {
        std::vector<double> t;
        for (std::int64_t j = 0; j < columns; ++j) t.push_back(double{at(x, out, i, j)} * at(x, out, i, j));
        rms = std::sqrt(sum(t, static_cast<std::size_t>(i)) * (1.0f / static_cast<float>(columns)));
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        float& to = y[static_cast<std::size_t>(i * columns + j)];
        const auto index = static_cast<std::size_t>(i * columns + j);
        std::vector<double> terms, next;
        if (kind == OpKind::matmul) {
          for (std::int64_t k = 0; k < inner; ++k) {
            terms.push_back(double{x[i * inner + k]} * (*in[1])[k * columns + j]);
            next.push_back(double{x[i * inner + k]} * (*in[1])[(k + 1) % inner * columns + j]);
          }
          to = sum(terms, index, next);
        } else if (kind == OpKind::reduction) {
          const std::int64_t n = shapes[0][a.dim];
          for (std::int64_t k = 0; k < n; ++k)
            terms.push_back(a.dim == 0 ? at(x, shapes[0], k, j) : at(x, shapes[0], i, k));
          to = sum(terms, index);
        } else if (kind == OpKind::rms_norm) {
          to = at(x, out, i, j) / rms;
        } else if (kind == OpKind::softmax) {
          to = binary(OpKind::div, unary(OpKind::exp, a, at(x, out, i, j) - maximum), whole);
        } else if (in.size() == 2) {
          to = binary(kind, at(x, shapes[0], i, j), at(*in[1], shapes[1], i, j));
        } else {
          to = unary(kind, a, at(x, shapes[0], i, j));
        }
      }
    }
    spoil(out, y);
    return y;
  }

  void spoil(const Shape& shape, Values& y) {
    const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]);
    if (here(Bug::factor)) hit = true, y[y.size() / 2] *= 1.25f;
    if (here(Bug::swapped_rows) && rows > 1)
      hit = true, std::swap_ranges(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(columns),
                                   y.begin() + static_cast<std::ptrdiff_t>((rows / 2) * columns));
    ++operators;
  }

  void block(const KernelOp& op, std::vector<Values>& whole) {
    const BlockGraph& b = *op.block;
    std::vector<Values> at(b.tensors.size()), rounded(b.tensors.size());
    std::map<std::size_t, Values> state;
    const int first_operator = operators;
    for (std::int64_t it = 0; it < b.loop; ++it) {
      operators = first_operator;
      for (std::size_t i = 0; i < b.ops.size(); ++i) {
        const BlockOp& o = b.ops[i];
        if (o.kind == OpKind::output || (b.tensors[o.outputs[0]].after_loop && !is_accumulator(o.kind))) continue;
        step(op, o, i, it, b.loop, at, whole, state);
      }
    }
    for (std::size_t i = 0; i < b.ops.size(); ++i) {
      const BlockOp& o = b.ops[i];
      if (o.kind == OpKind::output)
        whole[op.outputs[o.kernel_tensor]] = at[o.inputs[0]];
      else if (b.tensors[o.outputs[0]].after_loop && !is_accumulator(o.kind))
        step(op, o, i, 0, 1, at, whole, state);
    }
  }

  void step(const KernelOp& op, const BlockOp& o, std::size_t i, std::int64_t it, std::int64_t loop,
            std::vector<Values>& at, const std::vector<Values>& whole, std::map<std::size_t, Values>& state) {
    const BlockGraph& b = *op.block;
    const Shape& out = b.tensors[o.outputs[0]].shape;
    Values& y = at[o.outputs[0]];
    const auto n = static_cast<std::size_t>(size(out));
    if (o.kind == OpKind::input) {
      const Values& from = whole[op.inputs[o.kernel_tensor]];
      const Shape& all = g_.tensors[op.inputs[o.kernel_tensor]].shape;
      y.resize(n);
      for (std::int64_t r = 0; r < out[0]; ++r)
        for (std::int64_t c = 0; c < out[1]; ++c)
          y[r * out[1] + c] =
              from[(r + (o.loop_dim == 0 ? it * out[0] : 0)) * all[1] + c + (o.loop_dim == 1 ? it * out[1] : 0)];
    } else if (o.kind == OpKind::reduction_max) {
      const Values& x = at[o.inputs[0]];
      const std::int64_t columns = b.tensors[o.inputs[0]].shape[1];
      const Values before = it == 0 ? Values(n, -FLT_MAX) : state[i];
      y = before;
      for (std::size_t r = 0; r < n; ++r)
        for (std::int64_t c = 0; c < columns; ++c) y[r] = std::max(y[r], x[r * columns + c]);
      state[i] = y;
      at[o.outputs[1]].resize(n);
      for (std::size_t r = 0; r < n; ++r) at[o.outputs[1]][r] = it == 0 ? 0 : before[r] - y[r];
    } else if (is_accumulator(o.kind)) {
      Values& acc = state[i];
      const Values& x = at[o.inputs[0]];
      const std::int64_t columns = b.tensors[o.inputs[0]].shape[1];
      if (it == 0) acc.assign(x.size(), 0);
      if (o.kind == OpKind::accum_rescale || o.kind == OpKind::accum_red_sum_rescale)
        for (std::size_t e = 0; e < x.size(); ++e) acc[e] *= at[o.inputs[1]][e / static_cast<std::size_t>(columns)];
      for (std::size_t e = 0; e < x.size(); ++e) acc[e] += o.kind == OpKind::accum_red_rms ? x[e] * x[e] : x[e];
      if (it + 1 < loop) return;
      y = acc;
      if (y.size() != n) {
        y.clear();
        for (std::int64_t r = 0; r < out[0]; ++r)
          y.push_back(sum({acc.begin() + r * columns, acc.begin() + (r + 1) * columns}, static_cast<std::size_t>(r)));
        if (o.kind == OpKind::accum_red_rms)
          for (float& v : y) v = std::sqrt(v * (1.0f / static_cast<float>(columns * loop)));
      }
      spoil(out, y);
    } else {
      std::vector<Shape> shapes;
      std::vector<Values> copies;
      std::vector<const Values*> in;
      copies.reserve(o.inputs.size());
      for (int t : o.inputs) {
        shapes.push_back(b.tensors[t].shape);
        copies.push_back(at[t]);
        if (o.kind == OpKind::matmul) round(b.tensors[t].dtype, copies.back());
        in.push_back(&copies.back());
      }
      y = evaluate(o.kind, o.attributes, shapes, in, out);
    }
  }

  const KernelGraph& g_;
  Style style_;
  std::mt19937_64 random_;
};

}  // namespace zellige::graph
