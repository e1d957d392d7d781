// Values under construction, with the properties needed to keep the mathematics well-conditioned: a logarithm
// of a possibly negative value, or a product of ten inputs, would only test the arithmetic of NaN and of
// overflow.
#pragma once
#include "graph/builder.hpp"
#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "rng.hpp"

namespace zellige::random_graphs {

using graph::Handle;
using graph::OpKind;
using graph::Shape;

template <class Level>
struct Value {
  Handle<Level> at;
  bool positive = false;  // well above zero everywhere
  bool bounded = false;   // of magnitude at most about 4
  bool vanishes = false;  // whole rows may be zero
  int degree = 1;         // how many inputs are multiplied
  bool varies = false;    // block level: changes with the iteration
  bool after = false;     // block level: lives after the loop
  Shape shape() const { return at.shape(); }
};

template <class L>
Value<L> derived(const Value<L>& from, Handle<L> at) {
  Value<L> v = from;
  v.at = at;
  return v;
}

template <class L>
Value<L> bounded(Rng& rng, Value<L> x) {
  if (x.bounded) return x;
  if (x.degree > 1) x = derived(x, graph::mul_scalar(x.at, 0.0625));  // or nearly all would saturate
  Value<L> v;
  if (rng.chance(50)) {
    v = derived(x, graph::sigmoid(x.at));
    v.vanishes = false;
  } else {
    v = derived(x, graph::clamp(x.at, -1.5, 2.25));
  }
  v.positive = false, v.bounded = true, v.degree = 0;
  return v;
}

template <class L>
Value<L> positive(Rng& rng, const Value<L>& x) {
  if (x.positive) return x;
  Value<L> v;
  if (x.degree < 2 && rng.chance(50))
    v = derived(x, graph::clamp(x.at, 0.25, 3.5));
  else
    v = derived(x, graph::exp(bounded(rng, x).at));
  v.positive = true, v.bounded = true, v.vanishes = false, v.degree = 0;
  return v;
}

/// Fewer factors, before more are multiplied on.
template <class L>
Value<L> tamed(Rng& rng, const Value<L>& x, int maximum) {
  return x.degree > maximum ? bounded(rng, x) : x;
}

/// Every elementwise operator with this number of operands: a new row of the table is drawn automatically.
inline std::vector<OpKind> elementwise_operators(int operands) {
  std::vector<OpKind> all;
  for (OpKind kind : graph::all_ops())
    if (graph::is_elementwise(kind) && graph::elementwise(kind).operands == operands) all.push_back(kind);
  return all;
}
inline const std::vector<OpKind>& unary_operators() {
  static const std::vector<OpKind> all = elementwise_operators(1);
  return all;
}

template <class L>
Value<L> unary(Rng& rng, OpKind kind, Value<L> x) {
  Value<L> v;
  // Far below zero these are tiny, and no float32 has their digits.
  const bool waves = kind == OpKind::sin || kind == OpKind::cos;
  if (kind == OpKind::silu || kind == OpKind::gelu || kind == OpKind::gelu_tanh || kind == OpKind::sigmoid || waves)
    x = tamed(rng, x, 1);
  switch (kind) {
    case OpKind::exp:
      v = derived(x, graph::exp(bounded(rng, x).at));
      v.positive = true, v.bounded = false, v.degree = 2, v.vanishes = false;
      return v;
    case OpKind::square:
      x = tamed(rng, x, 1);
      v = derived(x, graph::square(x.at));
      v.degree = 2 * x.degree, v.bounded = false;
      return v;
    case OpKind::sqrt:
      if (!x.positive && rng.chance(50))
        x = derived(x, graph::square(x.at));
      else
        x = positive(rng, x);
      return derived(x, graph::sqrt(x.at));
    case OpKind::mul_scalar: {
      static const std::vector<double> scalars = {0.5, -1.25, 1.0 / 3, 2.7, 1.0 / 4096 * 1000, 0.07};
      const double s = rng.pick(scalars);
      v = derived(x, graph::mul_scalar(x.at, s));
      v.positive = v.positive && s > 0.3, v.bounded = v.bounded && s < 1;
      return v;
    }
    case OpKind::silu:
      v = derived(x, graph::silu(x.at));
      break;
    case OpKind::gelu:
      v = derived(x, graph::gelu(x.at));
      break;
    case OpKind::relu:
      v = derived(x, graph::relu(x.at));
      v.vanishes = !x.positive;
      return v;
    case OpKind::clamp:
      v = derived(x, graph::clamp(x.at, -0.75, 1.5));
      v.positive = x.positive, v.bounded = true, v.degree = 0;
      return v;
    case OpKind::sigmoid:
      v = derived(x, graph::sigmoid(x.at));
      v.positive = x.bounded, v.bounded = true, v.vanishes = false, v.degree = 0;
      return v;
    case OpKind::log:
    case OpKind::log1p:
      x = positive(rng, x);
      v = derived(x, graph::append<L>(kind, {x.at})[0]);
      v.positive = false, v.bounded = true;
      return v;
    case OpKind::gelu_tanh:
      v = derived(x, graph::gelu_tanh(x.at));
      break;
    case OpKind::rsqrt:
      x = positive(rng, x);
      v = derived(x, graph::rsqrt(x.at));
      v.positive = x.bounded, v.bounded = true, v.degree = 0;
      return v;
    case OpKind::abs:
      return derived(x, graph::abs(x.at));
    case OpKind::cast: {  // there and back: all else is of one dtype
      std::vector<graph::DType> stored = graph::all_dtypes();
      std::erase_if(stored, [](graph::DType d) { return graph::is_weight_only(d) || d == graph::DType::f64; });
      const graph::DType own = x.at.dtype(), other = rng.pick(stored);
      v = derived(x, graph::cast(graph::cast(tamed(rng, x, 1).at, other, rng.chance(30)), own));
      if (graph::is_integer(other)) v.positive = false, v.vanishes = true;
      return v;
    }
    default:  // neg, tanh, sin, cos, and what is new: of both signs
      v.at = graph::append<L>(kind, {x.at})[0];
      v.varies = x.varies, v.after = x.after, v.degree = x.degree, v.bounded = x.bounded;
      v.vanishes = x.vanishes || waves;
      if (waves || kind == OpKind::tanh) v.bounded = true, v.degree = 0;
      return v;
  }
  v.vanishes = true;  // silu and gelu of what is very negative are tiny
  if (x.positive) v.vanishes = x.vanishes;
  v.positive = false;
  return v;
}

inline const std::vector<OpKind>& binary_operators() {
  static const std::vector<OpKind> all = elementwise_operators(2);
  return all;
}

inline bool compares(OpKind kind) { return graph::elementwise(kind).spread == graph::Spread::step; }

template <class L>
Value<L> binary(Rng& rng, OpKind kind, Value<L> x, Value<L> y) {
  Value<L> v;
  if (kind == OpKind::mul) x = tamed(rng, x, 1), y = tamed(rng, y, 1);
  if (kind == OpKind::div) y = positive(rng, y);
  if (kind == OpKind::pow)
    x = derived(x, graph::clamp(positive(rng, x).at, 0.5, 4)), y = bounded(rng, y), x.positive = true;
  v.at = graph::append<L>(kind, {x.at, y.at})[0];
  v.varies = x.varies || y.varies, v.after = x.after || y.after;
  v.degree = kind == OpKind::mul ? x.degree + y.degree : std::max(x.degree, y.degree);
  if (kind == OpKind::pow) v.degree = 1, v.bounded = y.degree == 0;
  if (kind == OpKind::maximum || kind == OpKind::minimum) v.bounded = x.bounded && y.bounded;
  v.positive = (x.positive && y.positive && kind != OpKind::sub && !compares(kind)) || kind == OpKind::pow;
  v.vanishes = kind == OpKind::div || kind == OpKind::pow ? x.vanishes : x.vanishes || y.vanishes;
  if (compares(kind)) v.bounded = v.vanishes = true, v.degree = 0;
  return v;
}

/// A binary operator with a scalar as the second operand: values that inputs also have, so that comparisons
/// have equal operands.
template <class L>
Value<L> with_scalar(Rng& rng, OpKind kind, Value<L> x) {
  static const std::vector<double> any = {0, 0.5, -1.25, 1, 0.1}, divisors = {1.5, -0.75, 3}, powers = {2, 0.5, -1.5};
  if (kind == OpKind::pow) x = derived(x, graph::clamp(positive(rng, x).at, 0.5, 4)), x.positive = true;
  const double s = rng.pick(kind == OpKind::div ? divisors : kind == OpKind::pow ? powers : any);
  Value<L> v = derived(x, graph::append<L>(kind, {x.at}, {.scalar = s})[0]);
  v.positive = kind == OpKind::pow, v.vanishes = true;
  if (kind == OpKind::pow) v.degree = 1, v.vanishes = false, v.bounded = false;
  if (kind == OpKind::add || kind == OpKind::sub) v.bounded = false;
  if (compares(kind)) v.bounded = true, v.degree = 0;
  return v;
}

/// x where a comparison holds, else y or a scalar.
template <class L>
Value<L> choice(Rng& rng, const Value<L>& x, const Value<L>& y) {
  const Value<L> condition = with_scalar(rng, rng.chance(50) ? OpKind::gt : OpKind::le, rng.chance(50) ? x : y);
  Value<L> v = x;
  if (rng.chance(30)) {
    v = derived(x, graph::where(condition.at, x.at, -0.5));
    v.varies = x.varies || condition.varies, v.after = x.after || condition.after;
    v.positive = v.bounded = false, v.vanishes = x.vanishes;
    return v;
  }
  v.at = graph::where(condition.at, x.at, y.at);
  v.varies = x.varies || y.varies, v.after = x.after || y.after;
  v.positive = x.positive && y.positive, v.bounded = x.bounded && y.bounded;
  v.vanishes = x.vanishes || y.vanishes, v.degree = std::max(x.degree, y.degree);
  return v;
}

/// Operators along one dimension or several, except `reduction`, whose result may be longer than 1.
inline const std::vector<OpKind>& line_operators() {
  static const std::vector<OpKind> all = {OpKind::sum,         OpKind::mean,     OpKind::amax,
                                          OpKind::amin,        OpKind::softmax,  OpKind::safe_softmax,
                                          OpKind::log_softmax, OpKind::logsumexp};
  return all;
}

template <class L>
Value<L> along(Rng& rng, OpKind kind, Value<L> x, int dim, bool keepdim) {
  const bool exponential = kind == OpKind::softmax || kind == OpKind::safe_softmax || kind == OpKind::log_softmax ||
                           kind == OpKind::logsumexp;
  if (exponential) x = tamed(rng, x, 1);
  graph::Attributes a{.dim = dim, .keepdim = keepdim};
  if (graph::reduces(kind) && x.shape().size() > 1 && rng.chance(30)) {
    for (int d = 0; d < static_cast<int>(x.shape().size()); ++d)
      if (d == dim || rng.chance(40)) a.sizes.push_back(d);
    rng.shuffle(a.sizes);
    a.dim = -1;
  }
  Value<L> v = derived(x, graph::append<L>(kind, {x.at}, a)[0]);
  if (kind == OpKind::sum) v.bounded = false, v.degree = std::max(2, v.degree);
  if (exponential)
    v.positive = false, v.bounded = kind == OpKind::softmax || kind == OpKind::safe_softmax, v.vanishes = true,
    v.degree = 1;
  return v;
}

/// A mask by index of which all, some or none is kept; `put(x, kept, value)` is the operator. -inf goes where it ends.
template <class L, class Put>
Value<L> masked(Rng& rng, Value<L> x, std::int64_t rows, std::int64_t columns, int key, const Put& put) {
  graph::Kept kept;
  while (kept == graph::Kept{}) {
    if (rng.chance(50)) kept.tril = rng.between(-rows, columns);
    if (rng.chance(30)) kept.triu = rng.between(-rows, columns / 2);
    if (rng.chance(25)) kept.length = rng.between(0, columns + 1);
  }
  if (rng.chance(50)) {
    Value<L> v = derived(x, put(x.at, kept, rng.pick(std::vector<double>{0, 0.5, -1.25})));
    v.positive = false, v.vanishes = true;
    return v;
  }
  x = bounded(rng, x);
  const Handle<L> open = put(x.at, kept, graph::Attributes{}.value);
  Value<L> v = derived(x, rng.chance(60) ? graph::safe_softmax(open, key) : graph::exp(open));
  v.vanishes = true, v.degree = 1;
  return v;
}

/// `weight` makes a tensor of the last dimensions. A variance may vanish, so layer_norm has an eps that counts.
template <class L, class Weight>
Value<L> norm(Rng& rng, Value<L> x, const Weight& weight) {
  std::vector<Handle<L>> in;
  Value<L> v = x;
  double eps = rng.chance(50) ? 0 : 0.25;
  const bool layer = rng.chance(50);
  if (layer)
    x = tamed(rng, x, 1), eps = rng.chance(50) ? 0.25 : 1;
  else if (x.vanishes)
    x = positive(rng, x);
  in.push_back(x.at);
  v = x;
  const Shape shape = x.shape();
  const std::int64_t dims = rng.chance(70) ? 1 : rng.between(1, static_cast<std::int64_t>(shape.size()));
  const Shape line(shape.end() - dims, shape.end());
  for (int left = rng.chance(50) ? 0 : layer ? 2 : 1; left > 0; --left) {
    const Value<L> w = weight(line);
    in.push_back(w.at);
    v.varies = v.varies || w.varies;
  }
  v.at = graph::append<L>(layer ? OpKind::layer_norm : OpKind::rms_norm, in,
                          {.sizes = dims == 1 ? Shape{} : line, .eps = eps})[0];
  v.positive = v.bounded = false, v.degree = in.size() > 1 ? 1 : 0;
  v.vanishes = layer || in.size() > 1;
  return v;
}

/// A rotary embedding in either convention; `table` makes a tensor for cosines or sines, one a pair or one an element.
template <class L, class Table>
Value<L> rotated(Rng& rng, Value<L> x, const Table& table) {
  x = tamed(rng, x, 1);
  Shape shape = x.shape();
  if (rng.chance(70)) shape.back() /= 2;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d)
    if (rng.chance(30)) shape[d] = 1;
  while (shape.size() > 1 && rng.chance(20)) shape.erase(shape.begin());
  const Value<L> cos = table(shape), sin = table(shape);
  Value<L> v = x;
  v.at = rng.chance(50) ? graph::rotary(x.at, cos.at, sin.at) : graph::rotary_interleaved(x.at, cos.at, sin.at);
  v.varies = x.varies || cos.varies || sin.varies;
  v.positive = v.bounded = false, v.vanishes = true, v.degree = 2;
  return v;
}

/// Integers on the way: both cast, an operator of theirs, and back.
template <class L>
Value<L> as_integers(Rng& rng, const Value<L>& x, const Value<L>& y) {
  static const std::vector<OpKind> known = [] {
    std::vector<OpKind> some;
    for (OpKind kind : binary_operators())
      if (!graph::elementwise(kind).integers.empty()) some.push_back(kind);
    return some;
  }();
  const graph::DType own = x.at.dtype(), whole = rng.chance(70) ? graph::DType::int32 : graph::DType::int8;
  const OpKind kind = rng.pick(known);
  const auto in = [&](const Value<L>& v) { return graph::cast(bounded(rng, v).at * 4.0, whole); };
  Value<L> v;
  v.at = rng.chance(30) && graph::elementwise(kind).scalar
             ? graph::append<L>(kind, {in(x)}, {.scalar = static_cast<double>(rng.between(-3, 3))})[0]
             : graph::append<L>(kind, {in(x), in(y)})[0];
  const bool folded = rng.chance(35);
  if (folded) {
    const int dim = static_cast<int>(rng.below(static_cast<std::int64_t>(v.at.shape().size())));
    v.at = rng.chance(70) ? graph::sum(v.at, dim, true) : graph::amax(v.at, dim, true);
  }
  v.at = graph::cast(v.at, own);
  v.varies = x.varies || y.varies, v.after = x.after || y.after;
  v.vanishes = true, v.bounded = compares(kind) && !folded, v.degree = v.bounded ? 0 : 2;
  return v;
}

/// A product, now and then of numbers of 8 bits, or with a bias, of a shape that `bias` makes a tensor of.
template <class L, class Bias>
Handle<L> product(Rng& rng, Handle<L> a, Handle<L> b, const Bias& bias) {
  if (rng.chance(6)) {
    const auto whole = [](Handle<L> x) { return graph::cast(graph::clamp(x, -2, 2) * 4.0, graph::DType::int8); };
    return graph::cast(graph::matmul(whole(a), whole(b)), a.dtype());
  }
  if (rng.chance(30)) {
    Shape shape = graph::without_vectors(graph::matrices(a.shape(), b.shape()).product, a.shape(), b.shape());
    for (std::int64_t& e : shape)
      if (rng.chance(30)) e = 1;
    while (shape.size() > 1 && rng.chance(40)) shape.erase(shape.begin());
    return graph::matmul(a, b, bias(shape).at);
  }
  if (!rng.chance(12)) return graph::matmul(a, b);
  const graph::DType narrow = rng.chance(50) ? graph::DType::e4m3 : graph::DType::e5m2;
  return graph::cast(graph::matmul(graph::cast(a, narrow), graph::cast(b, narrow)), a.dtype());
}

/// Any elementwise operator of more than one operand; `partner` makes the second tensor, if one is needed.
template <class L, class Partner>
Value<L> combined(Rng& rng, const Value<L>& x, const Partner& partner) {
  if (rng.chance(10)) return choice(rng, x, partner());
  if (rng.chance(6)) return as_integers(rng, x, partner());
  OpKind kind = rng.pick(binary_operators());
  if (rng.chance(15))
    kind = rng.pick(std::vector<OpKind>{OpKind::add, OpKind::mul, OpKind::sub, OpKind::div, OpKind::pow});
  if (graph::elementwise(kind).scalar && rng.chance(25)) return with_scalar(rng, kind, x);
  return binary(rng, kind, x, partner());
}

}  // namespace zellige::random_graphs
