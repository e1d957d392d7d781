// Dot products over a random finite field (field.hpp).
#include <algorithm>

#include "number/field.hpp"
#include "number/signs.hpp"

namespace zellige::number {
namespace {

/// Returns whether products of x may be added up before they are reduced modulo p and q. True for a finite
/// number that is never NaN and that contains no logarithm or sum of exponentials.
bool is_simple_number(const FieldNumber& x) {
  return x.kind == FieldNumber::Kind::number && x.domain == Sets::empty && !x.fragile && !x.graded && x.logs == 0;
}

}  // namespace

void Field::Dot::add(const FieldNumber& x, const FieldNumber& y) {
  if (!is_simple_number(x) || !is_simple_number(y)) {
    rest_ = slow_ ? f_.add(rest_, f_.mul(x, y)) : f_.mul(x, y);
    slow_ = true;
    return;
  }
  f_.steps += 0.05;
  p_ += static_cast<Wide>(x.p) * y.p;
  const bool has_q = x.q != rootless && y.q != rootless && (!fast_ || sum_.q != rootless);
  if (x.hashed || y.hashed || x.q == absent || y.q == absent) {
    sum_.hashed = true;
    if (has_q && f_.keeps_sums) q_ += f_.exponent(f_.mul(x, y));
  } else if (has_q) {
    q_ += static_cast<Wide>(x.q) * y.q;
  }
  if (++terms_ == 14) terms_ = 1, p_ %= f_.p(), q_ %= f_.q();
  if (x.whole && y.whole) {
    const auto [lowest, greatest] =
        std::minmax({x.lowest * y.lowest, x.lowest * y.greatest, x.greatest * y.lowest, x.greatest * y.greatest});
    lowest_ += lowest, greatest_ += greatest;  // of unlimited factors NaN, which is in no range
  }
  const bool same = x.p == y.p && x.q == y.q;
  const std::uint8_t may = same ? square_signs(x.may) : product_signs(x.may, y.may);
  const Degrees degrees = x.degrees * y.degrees, sides = x.sides * y.sides;
  if (!fast_) {
    fast_ = true;
    sum_.degrees = degrees, sum_.sides = sides;
    sum_.may = may, sum_.whole = x.whole && y.whole;
    sum_.q = has_q ? 0 : rootless;
  } else {
    sum_.degrees = sum_.degrees + degrees, sum_.sides = sum_.sides + sides;
    sum_.may = sum_signs(sum_.may, may), sum_.whole = sum_.whole && x.whole && y.whole;
    if (!has_q) sum_.q = rootless;
  }
  for (const FieldNumber* v : {&x, &y}) {
    if (v->decisions != Sets::empty) sum_.decisions = f_.sets.join(sum_.decisions, v->decisions);
    sum_.unsettled = sum_.unsettled || v->unsettled, sum_.rooted = sum_.rooted || v->rooted;
  }
}

FieldNumber Field::Dot::value() {
  if (!fast_) return slow_ ? rest_ : f_.integer(0);
  sum_.p = static_cast<std::uint64_t>(p_ % f_.p());
  if (sum_.hashed && !f_.keeps_sums && sum_.q != rootless) {
    sum_.hashed = false, sum_.q = absent;
  } else if (sum_.q != rootless) {
    sum_.q = static_cast<std::uint64_t>(q_ % f_.q());
  }
  sum_.vanishes = sum_.unsettled;
  sum_.lowest = lowest_, sum_.greatest = greatest_;
  if (sum_.p == 0 && (sum_.q == 0 || sum_.hashed || sum_.q == absent)) sum_.may = zero;
  return slow_ ? f_.add(sum_, rest_) : sum_;
}

}  // namespace zellige::number
