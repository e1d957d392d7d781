#include "graph/compose.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "graph/dtype.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"

namespace zellige::graph {
namespace {

/// Builds the list of steps of a composite operator. Each member function appends steps and returns the index
/// of their result. sum(), mean() and amax() work along the operator's dimensions.
class ComposedSteps {
 public:
  ComposedSteps(OpKind kind, const Attributes& a, const std::vector<Shape>& operands)
      : next_(static_cast<int>(operands.size())), dims_(composed_dims(kind, a, operands.at(0))) {
    for (int d : dims_) count_ *= operands[0].at(d);
  }

  int unary(OpKind kind, int x) { return add(kind, {x}, {}); }
  int binary(OpKind kind, int x, int y) { return add(kind, {x, y}, {}); }
  int scalar(OpKind kind, std::vector<int> in, double s) { return add(kind, std::move(in), {.scalar = s}); }
  int sum(int x) {
    for (int dim : dims_) x = add(OpKind::reduction, {x}, {.dim = dim});
    return x;
  }
  /// Appends a step that slices x to its first half along the last dimension, or to its second half if
  /// `second`. Returns the index of the step's result. `shape`: the shape of x.
  int half(int x, const Shape& shape, bool second) {
    const std::int64_t n = shape.back() / 2;
    return add(OpKind::slice, {x},
               {.dim = static_cast<int>(shape.size()) - 1, .start = second ? n : 0, .end = second ? 2 * n : n});
  }
  int joined(int x, int y) { return add(OpKind::concat, {x, y}, {.dim = dims_[0]}); }
  /// Appends steps that transpose each row of x, of shape `shape`, as a matrix with `columns` columns.
  int transposed_rows(int x, const Shape& shape, std::int64_t columns) {
    const std::int64_t n = shape.back();
    x = add(OpKind::reshape, {x}, {.sizes = {size(shape) / n, n / columns, columns}});
    x = add(OpKind::permute, {x}, {.sizes = {0, 2, 1}});
    return add(OpKind::reshape, {x}, {.sizes = shape});
  }
  /// Appends steps that compute the mean of x over the reduced dimensions, and returns the index of the mean.
  /// With n elements along these dimensions, the sum is divided by n, as in PyTorch: multiplication by a rounded
  /// 1/n would make the mean of equal numbers differ from these numbers. If n is a power of two, the sum is
  /// multiplied by 1/n, which is exact.
  int mean(int x) {
    const auto n = static_cast<double>(count_);
    return std::has_single_bit(static_cast<std::uint64_t>(count_))
               ? scalar(OpKind::mul_scalar, {sum(x)}, 1 / n)  // exact, and cheaper
               : scalar(OpKind::div, {sum(x)}, n);
  }
  int amax(int x) { return folded(OpKind::amax, x); }
  /// Appends steps that reduce x over the dimensions, one after another, and returns the index of the result.
  int folded(OpKind kind, int x) {
    for (int dim : dims_) x = add(kind, {x}, {.dim = dim, .keepdim = true});
    return x;
  }
  /// Appends a step that computes x + eps, and returns the index of its result; if eps is 0, just returns x.
  int shifted(int x, double eps) { return eps == 0 ? x : scalar(OpKind::add, {x}, eps); }

  std::vector<ComposedStep> take() { return std::move(steps_); }

 private:
  int add(OpKind kind, std::vector<int> in, const Attributes& a) {
    steps_.push_back({kind, std::move(in), a});
    return next_++;
  }
  std::vector<ComposedStep> steps_;
  int next_;
  std::vector<int> dims_;
  std::int64_t count_ = 1;  // number of elements along dims_
};

/// Appends the steps of a rotary embedding of operand 0, with the cosines and sines of operands 1 and 2.
void add_rotary(const std::vector<Shape>& operands, bool interleaved, ComposedSteps& s) {
  const Shape& shape = operands[0];
  const bool each = operands[1].back() == shape.back();  // a cosine and a sine for each element, not for each pair
  const auto in_halves = [&](int t) { return interleaved ? s.transposed_rows(t, operands[t], 2) : t; };
  const int halves = in_halves(0);
  const int first = s.half(halves, shape, false), second = s.half(halves, shape, true);
  int cos[] = {1, 1}, sin[] = {2, 2};
  if (each) {
    const int all_cos = in_halves(1), all_sin = in_halves(2);
    for (const bool h : {false, true})
      cos[h] = s.half(all_cos, operands[1], h), sin[h] = s.half(all_sin, operands[2], h);
  }
  const int left = s.binary(OpKind::sub, s.binary(OpKind::mul, first, cos[0]), s.binary(OpKind::mul, second, sin[0]));
  const int right = s.binary(OpKind::add, s.binary(OpKind::mul, second, cos[1]), s.binary(OpKind::mul, first, sin[1]));
  const int joined = s.joined(left, right);
  if (interleaved) s.transposed_rows(joined, shape, shape.back() / 2);
}

}  // namespace

bool is_composed(OpKind kind) { return family(kind) == OpFamily::composed || folds(kind); }

bool reduces(OpKind kind) { return folds(kind) || kind == OpKind::sum || kind == OpKind::mean || kind == OpKind::amin; }

bool is_primitive_fold(OpKind kind, const Attributes& a) { return folds(kind) && a.sizes.empty() && a.keepdim; }

std::vector<int> composed_dims(OpKind kind, const Attributes& a, const Shape& x) {
  std::vector<int> dims;
  const bool norm = kind == OpKind::rms_norm || kind == OpKind::layer_norm;
  if (norm || kind == OpKind::rotary || kind == OpKind::rotary_interleaved) {
    const std::size_t count = norm && !a.sizes.empty() ? a.sizes.size() : 1;
    for (std::size_t d = 1; d <= count; ++d) dims.push_back(static_cast<int>(x.size() - d));
    return dims;
  }
  if (!reduces(kind) || a.sizes.empty()) return {a.dim};
  for (std::int64_t d : a.sizes) dims.push_back(static_cast<int>(d));
  std::ranges::sort(dims, std::greater<>());
  return dims;
}

std::vector<ComposedStep> compose(OpKind kind, const Attributes& a, const std::vector<Shape>& operands,
                                  DType computed) {
  const int x = 0;
  const Format& range = format(computed == DType::f64 ? computed : DType::f32);
  ComposedSteps s(kind, a, operands);
  // Appends the scale and the shift of a norm, if the operator has them.
  const auto scaled = [&](int y) {
    if (operands.size() > 1) y = s.binary(OpKind::mul, y, 1);
    if (operands.size() > 2) s.binary(OpKind::add, y, 2);
  };
  switch (kind) {
    case OpKind::sum:
      s.sum(x);
      break;
    case OpKind::mean:
      s.mean(x);
      break;
    case OpKind::amin:
      s.unary(OpKind::neg, s.amax(s.unary(OpKind::neg, x)));
      break;
    case OpKind::softmax: {
      const int e = s.unary(OpKind::exp, s.binary(OpKind::sub, x, s.amax(x)));
      s.binary(OpKind::div, e, s.sum(e));
      break;
    }
    case OpKind::safe_softmax: {
      // If a row is entirely -inf: minus the lowest finite number it remains -inf, exp gives 0, and 0 over
      // the smallest normal number is 0. Any other row has a term of 1.
      const int off = s.scalar(OpKind::maximum, {s.amax(x)}, range.lowest);
      const int e = s.unary(OpKind::exp, s.binary(OpKind::sub, x, off));
      s.binary(OpKind::div, e, s.scalar(OpKind::maximum, {s.sum(e)}, range.min_normal));
      break;
    }
    case OpKind::log_softmax: {
      const int below = s.binary(OpKind::sub, x, s.amax(x));
      s.binary(OpKind::sub, below, s.unary(OpKind::log, s.sum(s.unary(OpKind::exp, below))));
      break;
    }
    case OpKind::rms_norm: {
      const int square = s.shifted(s.mean(s.unary(OpKind::square, x)), a.eps);
      scaled(s.binary(OpKind::div, x, s.unary(OpKind::sqrt, square)));
      break;
    }
    case OpKind::layer_norm: {
      const int off = s.binary(OpKind::sub, x, s.mean(x));
      const int variance = s.shifted(s.mean(s.unary(OpKind::square, off)), a.eps);
      scaled(s.binary(OpKind::div, off, s.unary(OpKind::sqrt, variance)));
      break;
    }
    case OpKind::rotary:
    case OpKind::rotary_interleaved:
      add_rotary(operands, kind == OpKind::rotary_interleaved, s);
      break;
    default:
      if (!folds(kind)) fail("{} is not made of other operators", name(kind));
      s.folded(kind, x);
  }
  return s.take();
}

std::vector<Shape> step_shapes(const std::vector<ComposedStep>& steps, const std::vector<Shape>& operands) {
  std::vector<Shape> all = operands;
  for (const ComposedStep& step : steps) {
    std::vector<Shape> in;
    for (int i : step.inputs) in.push_back(all[i]);
    all.push_back(infer_shapes({"a composed operator"}, step.kind, step.attributes, in).at(0));
  }
  return {all.begin() + static_cast<std::ptrdiff_t>(operands.size()), all.end()};
}

}  // namespace zellige::graph
