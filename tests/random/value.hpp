// Values under construction, with what must be known to keep the mathematics well-conditioned: a logarithm of what may
// be negative, or a product of ten inputs, would test the arithmetic of NaN and of overflow and nothing else.
#pragma once
#include "graph/builder.hpp"
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
Value<L> tamed(Rng& rng, const Value<L>& x, int most) {
  return x.degree > most ? bounded(rng, x) : x;
}

inline const std::vector<OpKind>& unary_operators() {
  static const std::vector<OpKind> all = {OpKind::exp,   OpKind::square,  OpKind::sqrt, OpKind::mul_scalar,
                                          OpKind::silu,  OpKind::sigmoid, OpKind::gelu, OpKind::relu,
                                          OpKind::clamp, OpKind::log};
  return all;
}

template <class L>
Value<L> unary(Rng& rng, OpKind kind, Value<L> x) {
  Value<L> v;
  // Far below zero these are tiny, and no float32 has their digits.
  if (kind == OpKind::silu || kind == OpKind::gelu || kind == OpKind::sigmoid) x = tamed(rng, x, 1);
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
      x = positive(rng, x);
      v = derived(x, graph::log(x.at));
      v.positive = false, v.bounded = true;
      return v;
    default:
      return x;
  }
  v.vanishes = true;  // silu and gelu of what is very negative are tiny
  if (x.positive) v.vanishes = x.vanishes;
  v.positive = false;
  return v;
}

inline const std::vector<OpKind>& binary_operators() {
  static const std::vector<OpKind> all = {OpKind::add, OpKind::sub, OpKind::mul, OpKind::div, OpKind::pow};
  return all;
}

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
  v.positive = (x.positive && y.positive && kind != OpKind::sub) || kind == OpKind::pow;
  v.vanishes = kind == OpKind::sub || kind == OpKind::mul || kind == OpKind::add ? x.vanishes || y.vanishes
                                                                                 : x.vanishes;
  return v;
}

}  // namespace zellige::random_graphs
