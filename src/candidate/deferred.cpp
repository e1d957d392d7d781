#include "candidate/deferred.hpp"

#include <algorithm>
#include <cmath>

#include "graph/elementwise.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::candidate {
namespace {

using Kind = Deferred::Kind;

/// Applies a step to the deferred value `h`, whose tile lacks an offset (Kind::offset): changes the offset's
/// coefficient or, for exp, the kind to Kind::scaled. Returns false if the step does not commute with the offset.
bool offset(const GroupStep& s, Deferred& h) {
  if (s.kind == graph::OpKind::cast) return rewrite::is_widening(s.kind, s.attributes);
  if (s.kind == graph::OpKind::exp) {
    h.kind = Kind::scaled;
    return true;
  }
  if (graph::is_linear(s.kind, s.attributes, 1)) {
    const double of[] = {h.coefficient, s.attributes.scalar};
    h.coefficient = graph::apply(s.kind, s.attributes, of);
    return std::isfinite(h.coefficient);
  }
  // What adds or subtracts a scalar is linear in its operand and the scalar together.
  return graph::is_elementwise(s.kind) && graph::elementwise(s.kind).law.linear == graph::Linearity::all;
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

/// Returns whether the step is a monotone function f, so that f(max x) = max f(x), where x is the operand that changes
/// in the loop. If the step has another operand, the caller must check that the latter does not change in the loop.
bool is_monotone(const GroupStep& s) {
  if (!graph::is_elementwise(s.kind)) return false;
  const graph::Law& law = graph::elementwise(s.kind).law;
  // Of two tensors only a selection: their sum would be formed for each element instead of for the maximum alone.
  if (s.inputs.size() == 2) return law.monotone == graph::Monotone::every && law.linear == graph::Linearity::no;
  if (s.inputs.size() != 1) return false;
  if (s.kind == graph::OpKind::cast) return s.attributes.dtype == graph::DType::f32;  // others round
  if (!std::isfinite(s.attributes.scalar)) return false;                              // of 0 it makes NaN
  return law.monotone == graph::Monotone::every || law.monotone == graph::Monotone::up ||
         (law.monotone == graph::Monotone::by_scalar && s.attributes.scalar > 0);
}

/// Returns by what a step that is linear in two operands together multiplies the second: 1 of a sum, -1 of a difference.
/// Returns 0 for any other step.
double sign_of(const GroupStep& s) {
  if (!graph::is_elementwise(s.kind) || graph::elementwise(s.kind).law.linear != graph::Linearity::all) return 0;
  const double second[] = {0, 1};
  return s.inputs.size() == 2 ? graph::apply(s.kind, s.attributes, second) : 0;
}

// ---- The laws, as DeferralLaw::apply ----

/// Of tiles that factors are applied to, such as a norm's scale, which so passes through the matmul after it. Also of those
/// relative to a running maximum.
bool factors(const GroupStep& s, Deferred& x, const Deferred* y) {
  const auto scaled = [](const Deferred& h) { return h.kind == Kind::exact || h.kind == Kind::scaled; };
  if (!scaled(x) || (y && !scaled(*y))) return false;
  // Linearity up to rounding: f(a x) = a f(x) for a > 0, f(x + y) = f(x) + f(y).
  // Without its factors a value may lie beyond the range of such a dtype; exponentials are at most 1.
  if (s.kind == graph::OpKind::cast && !rewrite::has_range(s.attributes.dtype) && x.kind != Kind::scaled) return false;
  if (!y)
    return s.kind == graph::OpKind::mask ? s.attributes.value == 0
                                         : graph::is_linear(s.kind, s.attributes, s.inputs.size());
  if (sign_of(s) != 0) return x.like(*y);
  if (s.kind != graph::OpKind::mul && s.kind != graph::OpKind::div) return false;
  const bool divide = s.kind == graph::OpKind::div;
  for (DeferredFactor f : y->factors) {
    f.divide = f.divide != divide;
    x.factors.push_back(f);
  }
  return join(x, *y, divide ? -1 : 1);
}

/// Of tiles from which the running maximum m' is subtracted in place of the last one, as in online softmax. When m'
/// increases to m'', earlier sums are multiplied by exp(-c (m'' - m')).
bool rescaling(const GroupStep& s, Deferred& x, const Deferred* y) {
  if (!y) return x.kind == Kind::offset && x.factors.empty() && offset(s, x);
  const auto summed = [](const Deferred& h) { return h.itself() || (h.kind == Kind::offset && h.factors.empty()); };
  return sign_of(s) != 0 && summed(x) && summed(*y) && join(x, *y, sign_of(s));
}

/// Of tiles from which the mean of a part is subtracted: only squares, and casts that change nothing. A variance then
/// needs no kernel of its own after that of the mean.
bool centring(const GroupStep& s, Deferred& x, const Deferred* y) {
  if (y || x.centre < 0) return false;
  if (s.kind == graph::OpKind::cast) return rewrite::is_widening(s.kind, s.attributes);
  if (s.kind != graph::OpKind::square || x.kind != Kind::centred) return false;
  x.kind = Kind::squared;
  return true;
}

/// Of maxima: records the step, which is applied to the maximum's operand.
bool monotone(const GroupStep& s, Deferred& x, const Deferred*) {
  if (x.kind != Kind::maximum || !is_monotone(s)) return false;
  x.tile = -1, x.monotone.push_back(s);
  return true;
}

constexpr DeferralLaw table[] = {
    {"Σ (xᵢ h) = (Σ xᵢ) h",
     "h has one element along the loop's axis and along other summed axes; only linear steps are between, and none "
     "rounds "
     "to f16 or 8 bits what lacks h, but a tensor of the graph",
     factors},
    {"F(x, m) = F(x, m') · exp(c (m' − m))",
     "m is a maximum over the loop; F is `exp` of something linear in x − m, times factors without m", rescaling},
    {"Σ (xᵢ − m)² = Σ (xᵢ − m')² + n (m' − m)²",
     "m is known after the loop, m' is the mean of the n elements of a block that has one tile", centring},
    {"f(max x) = max f(x)", "f grows: `clamp`, `maximum`, a scalar added, a positive factor", monotone},
};

}  // namespace

std::span<const DeferralLaw> laws() { return table; }

bool Deferred::bounded_below() const {
  return std::ranges::any_of(monotone, [](const GroupStep& s) {
    const graph::Image lowest_image = graph::elementwise(s.kind).law.lowest;
    return lowest_image == graph::Image::floor || lowest_image == graph::Image::zero;
  });
}

bool through(const GroupStep& s, Deferred& x, const Deferred* y) {
  if (x.itself() && (!y || y->itself())) return true;
  return std::ranges::any_of(table, [&](const DeferralLaw& law) { return law.apply(s, x, y); });
}

}  // namespace zellige::candidate
