// Defines Tape, which does the layout algebra's arithmetic on numbers that may be unknown at compile time. At run time
// a Tape computes immediately. At compile time it records what remains to be done at run time: checks, and the
// computation of expressions of the run-time inputs. Equal expressions are recorded once.
#pragma once
#include <zellige/layout/algebra/value.hpp>
#include <zellige/layout/rule.hpp>

namespace zellige {
namespace values {

/// An arithmetic operation of a recorded step, on operands a and b; `input` denotes a run-time number of
/// an argument.
enum class Arith : signed char {
  input,
  add,
  sub,
  mul,
  div,
  mod,
  min,
  max,
  gcd,
  abs,
  sign,
  lt,
  le,
  eq,
  conj,
  disj,
  bit_and,
  bit_xor,
  shl,
  shr,
  flip,  // b if a is 0, else -b
  check  // if a is 0, the step's rule is broken
};

/// A recorded expression or check.
struct TapeStep {
  Arith op = Arith::input;
  Num a = {};
  Num b = {};
  /// In a check: the rule that is broken if a is 0 at run time; x and y are the numbers of its message.
  Refusal rule = {};
  Num x = {};
  Num y = {};
};

/// Returns the result of the operation op on a and b. A division by zero gives 0: a preceding check has
/// reported it.
ZELLIGE_ALGEBRA constexpr long long compute(Arith op, long long a, long long b) {
  switch (op) {
    case Arith::add:
      return a + b;
    case Arith::sub:
      return a - b;
    case Arith::mul:
      return a * b;
    case Arith::div:
      return b == 0 ? 0 : a / b;
    case Arith::mod:
      return b == 0 ? 0 : a % b;
    case Arith::min:
      return a < b ? a : b;
    case Arith::max:
      return a < b ? b : a;
    case Arith::abs:
      return a < 0 ? -a : a;
    case Arith::sign:
      return (a > 0) - (a < 0);
    case Arith::lt:
      return a < b;
    case Arith::le:
      return a <= b;
    case Arith::eq:
      return a == b;
    case Arith::conj:
      return a && b;
    case Arith::disj:
      return a || b;
    case Arith::bit_and:
      return a & b;
    case Arith::bit_xor:
      return a ^ b;
    case Arith::shl:
      return b < 0 ? a >> -b : a << b;
    case Arith::shr:
      return b < 0 ? a << -b : a >> b;
    case Arith::flip:
      return a == 0 ? b : -b;
    case Arith::gcd: {
      a = a < 0 ? -a : a;
      b = b < 0 ? -b : b;
      while (b != 0) {
        long long const r = a % b;
        a = b;
        b = r;
      }
      return a;
    }
    default:
      return 0;
  }
}

/// Computes or records arithmetic on Nums, and keeps the first refusal of an operation. If both operands are
/// static, the result is static.
class Tape {
 public:
  /// Constructs a tape that computes immediately, for the run-time API.
  ZELLIGE_ALGEBRA constexpr Tape() {}
  /// Constructs a tape that records expressions and checks as steps. Steps 0 to inputs - 1 are the run-time
  /// inputs.
  ZELLIGE_ALGEBRA constexpr explicit Tape(int inputs) : symbolic_(true) {
    for (int i = 0; i < inputs; ++i) steps_.push_back({});
  }

  // Returns a + b. Small static numbers, the most frequent ones, need no further call, which saves compile
  // time.
  ZELLIGE_ALGEBRA constexpr Num add(Num a, Num b) {
    if (small(a, b)) return {a.v + b.v, 0};
    return guarded(Arith::add, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num sub(Num a, Num b) { return binary(Arith::sub, a, b); }
  ZELLIGE_ALGEBRA constexpr Num mul(Num a, Num b) {
    if (small(a, b)) return {a.v * b.v, 0};
    if (a.is(0) || b.is(0)) return {0, 0};
    return guarded(Arith::mul, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num div(Num a, Num b) {
    if (small(a, b) && b.v != 0) return {a.v / b.v, 0};
    if (known_zero(b)) return refuse(Rule::divide_by_zero, known(a), 0), fixed(0);
    return a.is(0) ? fixed(0) : binary(Arith::div, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num mod(Num a, Num b) {
    if (small(a, b) && b.v != 0) return {a.v % b.v, 0};
    if (known_zero(b)) return refuse(Rule::divide_by_zero, known(a), 0), fixed(0);
    return a.is(0) || b.is(1) || b.is(-1) ? fixed(0) : binary(Arith::mod, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num min(Num a, Num b) {
    if (a.id == 0 && b.id == 0) return {a.v < b.v ? a.v : b.v, 0};
    return binary(Arith::min, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num max(Num a, Num b) {
    if (a.id == 0 && b.id == 0) return {a.v < b.v ? b.v : a.v, 0};
    return binary(Arith::max, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num gcd(Num a, Num b) { return binary(Arith::gcd, a, b); }
  ZELLIGE_ALGEBRA constexpr Num abs(Num a) {
    if (a.id == 0) return {a.v < 0 ? -a.v : a.v, 0};
    return binary(Arith::abs, a, a);
  }
  ZELLIGE_ALGEBRA constexpr Num sign(Num a) {
    if (a.id == 0) return {(a.v > 0) - (a.v < 0), 0};
    return binary(Arith::sign, a, a);
  }
  /// Returns 1 if a < b, else 0.
  ZELLIGE_ALGEBRA constexpr Num lt(Num a, Num b) {
    if (a.id == 0 && b.id == 0) return {a.v < b.v, 0};
    return binary(Arith::lt, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num le(Num a, Num b) {
    if (a.id == 0 && b.id == 0) return {a.v <= b.v, 0};
    return binary(Arith::le, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num eq(Num a, Num b) {
    if (a.id == 0 && b.id == 0) return {a.v == b.v, 0};
    return binary(Arith::eq, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num both(Num a, Num b) {
    if (a.is(0) || b.is(0)) return {0, 0};
    return binary(Arith::conj, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num either(Num a, Num b) {
    if ((a.id == 0 && a.v != 0) || (b.id == 0 && b.v != 0)) return {1, 0};
    return binary(Arith::disj, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num bit_and(Num a, Num b) {
    return a.is(0) || b.is(0) ? fixed(0) : binary(Arith::bit_and, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num bit_xor(Num a, Num b) { return binary(Arith::bit_xor, a, b); }
  ZELLIGE_ALGEBRA constexpr Num shl(Num a, Num b) { return binary(Arith::shl, a, b); }
  ZELLIGE_ALGEBRA constexpr Num shr(Num a, Num b) { return binary(Arith::shr, a, b); }
  /// Returns b if a is 0, else -b.
  ZELLIGE_ALGEBRA constexpr Num flip(Num a, Num b) { return binary(Arith::flip, a, b); }
  /// Returns a / b, rounded up, for positive b.
  ZELLIGE_ALGEBRA constexpr Num ceil_div(Num a, Num b) {
    if (small(a, b) && b.v != 0) return {(a.v + b.v - 1) / b.v, 0};
    if (known_zero(b)) return refuse(Rule::divide_by_zero, known(a), 0), fixed(0);
    return div(sub(add(a, b), fixed(1)), b);
  }
  ZELLIGE_ALGEBRA constexpr ScaledStride mul(ScaledStride a, Num b) { return {mul(a.n, b), a.e}; }

  /// Refuses the operation unless cond is nonzero: records `rule` as broken, with the numbers x and y for its
  /// message. If cond is unknown at compile time, records a check for run time.
  ZELLIGE_ALGEBRA constexpr void require(Num cond, Rule rule, Num x, Num y) {
    if (cond.is_static() || !symbolic_) {
      if (cond.v == 0) refuse(rule, x.v, y.v);
      return;
    }
    for (TapeStep const& s : steps_) {
      if (s.op == Arith::check && s.a.id == cond.id && s.rule.rule == rule) return;
    }
    steps_.push_back({Arith::check, cond, {}, {rule, 0, 0}, x, y});
  }
  /// Records a broken rule with the numbers x and y, unless one was recorded before. The operation may
  /// continue, but its result is meaningless.
  ZELLIGE_ALGEBRA constexpr void refuse(Rule rule, long long x, long long y) {
    if (rule == Rule::not_static && symbolic_) x = unknown_number;
    if (!refusal_) refusal_ = {rule, x, y};
  }
  /// Returns the value of n for a refusal, or unknown_number.
  ZELLIGE_ALGEBRA constexpr long long known(Num n) const { return n.is_static() || !symbolic_ ? n.v : unknown_number; }
  /// Records a broken rule, as refuse() does, and returns nothing(), the Value that denotes no result.
  ZELLIGE_ALGEBRA constexpr Value refused(Rule rule, long long x, long long y) {
    refuse(rule, x, y);
    return nothing();
  }
  ZELLIGE_ALGEBRA constexpr bool failed() const { return refusal_.rule != Rule::none; }
  ZELLIGE_ALGEBRA constexpr Refusal refusal() const { return refusal_; }
  ZELLIGE_ALGEBRA constexpr List<TapeStep> const& steps() const { return steps_; }
  ZELLIGE_ALGEBRA constexpr bool symbolic() const { return symbolic_; }

 private:
  ZELLIGE_ALGEBRA static constexpr bool small(Num a, Num b) { return (a.id | b.id) == 0 && (a.v | b.v) >> 31 == 0; }
  ZELLIGE_ALGEBRA constexpr bool known_zero(Num b) const { return b.v == 0 && (b.id == 0 || !symbolic_); }
  ZELLIGE_ALGEBRA constexpr Num guarded(Arith op, Num a, Num b) {
    if ((a.id == 0 && b.id == 0) || !symbolic_) guard(op, a.v, b.v);
    return binary(op, a, b);
  }
  ZELLIGE_ALGEBRA constexpr Num binary(Arith op, Num a, Num b) {
    if (refusal_.rule != Rule::none) return {1, 0};
    if (a.id == 0 && b.id == 0) return {compute(op, a.v, b.v), 0};
    if (!symbolic_) return dynamic(compute(op, a.v, b.v));
    // Equal expressions have equal values.
    if (a.id == b.id && (op == Arith::eq || op == Arith::le)) return {1, 0};
    if (a.id == b.id && (op == Arith::lt || op == Arith::sub || op == Arith::bit_xor)) return {0, 0};
    if (a.id == b.id && (op == Arith::min || op == Arith::max || op == Arith::bit_and)) return a;
    for (int i = 0; i < steps_.size(); ++i) {
      TapeStep const& s = steps_[i];
      if (s.op == op && s.a.id == a.id && s.b.id == b.id && s.a.v == a.v && s.b.v == b.v) return expression(i);
    }
    steps_.push_back({op, a, b});
    return expression(steps_.size() - 1);
  }
  ZELLIGE_ALGEBRA constexpr void guard(Arith op, long long a, long long b) {
    constexpr long long limit = 0x3fffffffffffffff;
    long long const p = a < 0 ? -a : a, q = b < 0 ? -b : b;
    bool const fits = op == Arith::add ? p <= limit - (q < limit ? q : limit) : (p == 0 || q <= limit / p);
    if (!fits) refuse(Rule::overflow, a, b);
  }

  List<TapeStep> steps_;
  Refusal refusal_;
  bool symbolic_ = false;
};

}  // namespace values
}  // namespace zellige
