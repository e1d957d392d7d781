// Orders the numbers of a finite field that are linear functions of one number, as real numbers are ordered (field.hpp).
#include <cmath>

#include "number/field.hpp"
#include "number/modular.hpp"

namespace zellige::number {

FieldNumber Field::as_line(const FieldNumber& x) const {
  FieldNumber z = x;
  if (x.base != 0) return z;
  const bool flipped = x.p > p_ - x.p;  // so that x and -x have one base
  z.base = flipped ? p_ - x.p : x.p, z.slope = flipped ? -1 : 1, z.shift = 0, z.line = true;
  return z;
}

void Field::add_lines(FieldNumber& z, const FieldNumber& x, const FieldNumber& y) const {
  z.base = 0, z.line = false;
  if (x.constant && y.constant) return;
  if (x.constant || y.constant) {
    const FieldNumber u = as_line(x.constant ? y : x);
    if (u.line) z.base = u.base, z.slope = u.slope, z.shift = u.shift + real(x.constant ? x : y), z.line = true;
    return;
  }
  const FieldNumber u = as_line(x), v = as_line(y);
  const double slope = u.slope + v.slope;
  if (!u.line || !v.line || u.base != v.base || std::fabs(slope) < 1e-9 * std::fabs(u.slope)) return;
  z.base = u.base, z.slope = slope, z.shift = u.shift + v.shift, z.line = true;
}

void Field::mul_lines(FieldNumber& z, const FieldNumber& x, const FieldNumber& y) const {
  z.base = 0, z.line = false;
  if (x.constant == y.constant && x.may != above && y.may != above) return;
  const bool scales_x = y.constant || (!x.constant && y.may == above);
  const FieldNumber &factor = scales_x ? y : x, u = as_line(scales_x ? x : y);
  const double scale = factor.constant ? real(factor) : 1;
  if (scale == 0 || (x.constant && y.constant)) return;
  z.base = u.base, z.slope = u.slope * scale, z.shift = u.shift * scale, z.line = u.line && factor.constant;
}

int Field::sign_on_line(const FieldNumber& x) {
  const auto [at, fresh] = intervals_.try_emplace(x.base, 0, INFINITY);
  auto& [low, high] = at->second;
  if (fresh && pow_mod(x.base, (p_ - 1) / 2, p_) != 1) low = -INFINITY, high = 0;
  const double bound = -x.shift / x.slope, near = 1e-12 * std::fabs(bound);
  bool more = bound <= low + near;  // whether the number exceeds the bound
  if (!more && bound < high - near) {
    more = draw(draw(seed_, 66), draw(x.base, std::min(x.p, p_ - x.p))) % 2 == 0;
    (more ? low : high) = bound;
  }
  return more == (x.slope > 0) ? 1 : -1;
}

}  // namespace zellige::number
