#include "tile/number.hpp"

#include <numeric>

#include "graph/error.hpp"

namespace zellige::tile {

SymbolicNumber SymbolicNumber::of(const SizeList& sizes, int size) {
  const Size& s = sizes.at(static_cast<std::size_t>(size));
  SymbolicNumber n;
  n.factor_ = 1, n.low_ = s.low, n.high_ = s.high, n.multiple_ = s.multiple, n.size_ = size, n.name_ = s.name;
  return n;
}

std::string SymbolicNumber::text() const {
  if (is_constant()) return fmt::format("{}", constant_);
  const std::string of = divisor_ == 1 ? name_ : fmt::format("ceil({}/{})", name_, divisor_);
  return (factor_ == 1 ? of : fmt::format("{}*{}", factor_, of)) +
         (constant_ == 0 ? "" : fmt::format("{:+}", constant_));
}

SymbolicNumber operator*(SymbolicNumber a, std::int64_t factor) {
  if (factor == 0) return 0;
  a.constant_ *= factor, a.factor_ *= factor;
  if (a.multiple_ % a.divisor_ == 0) {  // the quotient is exact
    const std::int64_t common = std::gcd(a.factor_, a.divisor_);
    a.factor_ /= common, a.divisor_ /= common;
  }
  return a;
}

SymbolicNumber operator+(const SymbolicNumber& a, const SymbolicNumber& b) {
  if (a.is_constant()) {
    SymbolicNumber sum = b;
    sum.constant_ += a.constant_;
    return sum;
  }
  if (!b.is_constant() && (a.size_ != b.size_ || a.divisor_ != b.divisor_))
    fail("{} + {}: no number in normal form", a.text(), b.text());
  if (a.factor_ + b.factor_ == 0) return a.constant_ + b.constant_;
  SymbolicNumber sum = a;
  sum.constant_ += b.constant_, sum.factor_ += b.factor_;
  return sum * 1;
}

SymbolicNumber ceil_div(const SymbolicNumber& a, std::int64_t b) {
  SymbolicNumber quotient = a;
  if (a.constant_ % b == 0 && a.factor_ % b == 0) {
    quotient.constant_ /= b, quotient.factor_ /= b;
  } else if (a.is_constant()) {
    quotient.constant_ = (a.constant_ + b - 1) / b;
  } else if (a.constant_ % b == 0 && a.factor_ == 1) {
    quotient.constant_ /= b, quotient.divisor_ *= b;
  } else {
    fail("{} / {}, rounded up: no number in normal form", a.text(), b);
  }
  return quotient * 1;
}

std::int64_t SymbolicNumber::excess(const SymbolicNumber& a, const SymbolicNumber& b) {
  if (!a.is_constant() && !b.is_constant() && a.size_ != b.size_) return a.high() - b.low();
  if (a.is_constant() || b.is_constant() || a.divisor_ == b.divisor_) return (a + b * -1).high();
  const std::int64_t scale = std::lcm(a.divisor_, b.divisor_);
  const auto maximum = [&](const SymbolicNumber& n, std::int64_t sign, std::int64_t size) {
    const std::int64_t up = sign * n.factor_ > 0 ? n.divisor_ - std::gcd(n.divisor_, n.multiple_) : 0;
    return sign * (scale * n.constant_ + scale / n.divisor_ * n.factor_ * (size + up));
  };
  return std::max(maximum(a, 1, a.low_) + maximum(b, -1, a.low_), maximum(a, 1, a.high_) + maximum(b, -1, a.high_));
}

std::optional<bool> less_equal(const SymbolicNumber& a, const SymbolicNumber& b) {
  if (SymbolicNumber::excess(a, b) <= 0) return true;
  if (SymbolicNumber::excess(b, a) < 0) return false;
  return std::nullopt;
}

SymbolicNumber value_of(const values::Tape& tape, values::Num n, const SymbolicNumber& input) {
  if (n.is_static()) return n.v;
  const values::TapeStep& step = tape.steps()[n.id - 1];
  if (step.op == values::Arith::input) return input;
  const SymbolicNumber a = value_of(tape, step.a, input), b = value_of(tape, step.b, input);
  switch (step.op) {
    case values::Arith::add:
      return a + b;
    case values::Arith::sub:
      return a + b * -1;
    case values::Arith::mul:
      if (a.is_constant()) return b * a.low();
      if (b.is_constant()) return a * b.low();
      [[fallthrough]];
    default:
      fail("a tape computes of {} what has no normal form", input.text());
  }
}

}  // namespace zellige::tile
