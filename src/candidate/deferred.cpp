#include "candidate/deferred.hpp"

#include <algorithm>
#include <cmath>

#include "graph/elementwise.hpp"

namespace zellige::fuse {
namespace {

using Kind = Deferred::Kind;

/// Applies a step to the deferred value `h`, whose tile lacks an offset (Kind::offset): changes the offset's
/// coefficient or, for exp, the kind to Kind::scaled. Returns false if the step does not commute with the offset.
bool offset(const Step& s, Deferred& h) {
  if (s.kind == OpKind::cast) return s.attributes.dtype == DType::f32;
  if (s.kind == OpKind::exp) {
    h.kind = Kind::scaled;
    return true;
  }
  if (graph::is_linear(s.kind, s.attributes, 1)) {
    const double of[] = {h.coefficient, s.attributes.scalar};
    h.coefficient = graph::apply(s.kind, s.attributes, of);
    return std::isfinite(h.coefficient);
  }
  // What adds or subtracts a scalar is linear in its operand and the scalar together.
  return graph::is_elementwise(s.kind) && graph::elementwise(s.kind).law.linear == graph::Linear::all;
}

/// Applies a step to the deferred value `h`, whose tile is centred at the mean of a part. Returns false unless the step
/// is a square of the centred value, or a cast that changes nothing.
bool centred(const Step& s, Deferred& h) {
  if (s.kind == OpKind::cast) return s.attributes.dtype == graph::DType::f32;
  if (s.kind != OpKind::square || h.kind != Kind::centred) return false;
  h.kind = Kind::squared;
  return true;
}

/// Combines the terms of `x` and `y` that are applied after the loop. Each term is a coefficient times
/// (maximum over the loop - running maximum). Adds sign * y.coefficient to x.coefficient. Returns false and
/// changes nothing if the terms refer to different running maxima.
bool join(Deferred& x, const Deferred& y, double sign) {
  if (y.running < 0) return true;
  if (x.running >= 0 && x.running != y.running) return false;
  x.running = y.running, x.kind = y.kind;
  x.coefficient += sign * y.coefficient;
  if (x.coefficient == 0) x.kind = Kind::exact, x.running = -1;
  return true;
}

}  // namespace

bool is_linear(const Step& s) {
  return s.kind == OpKind::mask ? s.attributes.value == 0 : graph::is_linear(s.kind, s.attributes, s.inputs.size());
}

bool is_monotone(const Step& s) {
  if (!graph::is_elementwise(s.kind)) return false;
  const graph::Law& law = graph::elementwise(s.kind).law;
  // Of two tensors only a selection: their sum would be formed for each element instead of for the maximum alone.
  if (s.inputs.size() == 2) return law.monotone == graph::Monotone::every && law.linear == graph::Linear::no;
  if (s.inputs.size() != 1) return false;
  if (s.kind == OpKind::cast) return s.attributes.dtype == DType::f32;  // others round
  return law.monotone == graph::Monotone::every || law.monotone == graph::Monotone::up ||
         (law.monotone == graph::Monotone::by_scalar && s.attributes.scalar > 0);
}

bool Deferred::bounded_below() const {
  return std::ranges::any_of(monotone, [](const Step& s) {
    const graph::Image least = graph::elementwise(s.kind).law.lowest;
    return least == graph::Image::floor || least == graph::Image::zero;
  });
}

bool through(const Step& s, Deferred& h) {
  if (h.itself()) return true;
  if (h.centre >= 0) return centred(s, h);
  if (h.kind == Kind::offset) return h.factors.empty() && offset(s, h);
  return is_linear(s);
}

bool through(const Step& s, Deferred& x, const Deferred& y) {
  const bool sum = s.kind == OpKind::add || s.kind == OpKind::sub;
  if (x.itself() && y.itself()) return true;
  if (x.centre >= 0 || y.centre >= 0) return false;
  if (sum) {
    if (x.kind != Kind::offset && y.kind != Kind::offset) return x.like(y);
    if (!x.factors.empty() || !y.factors.empty()) return false;
    if (x.kind == Kind::scaled || y.kind == Kind::scaled) return false;
    return join(x, y, s.kind == OpKind::add ? 1 : -1);
  }
  if (s.kind != OpKind::mul && s.kind != OpKind::div) return false;
  if (x.kind == Kind::offset || y.kind == Kind::offset) return false;
  const bool divide = s.kind == OpKind::div;
  for (Factor f : y.factors) {
    f.divide = f.divide != divide;
    x.factors.push_back(f);
  }
  return join(x, y, divide ? -1 : 1);
}

}  // namespace zellige::fuse
