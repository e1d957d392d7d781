// Random finite fields: what is equal over the reals is equal there, and what is different compares equal
// only with a probability that each number carries.
//
// A number is a pair, one in Z_p and one in Z_q, where q divides p - 1: e^x becomes w^(x mod q), w of order
// q, so that e^x e^y = e^(x+y) holds. The result of an exponential has no part in Z_q: used as an exponent,
// it counts as a random number there. A logarithm remembers its argument, so that ln e^x = x, e^(ln x) = x
// and ln(x e^y) = y + ln x hold.
//
// Residues have no order. `Order` defines its substitute:
//
//   unknown  maxima are the normal form of lattice.hpp, and are shifted with their members; comparisons,
//            roots, casts to integers and selections are unknown functions: equal arguments give equal random
//            numbers. What is equal here is equal whatever these functions are.
//   scaled   the same, and a maximum is scaled with its members. p = 3 mod 4, and small primes are squares,
//            so that the squares represent the positive numbers: their products are squares, and one of x and
//            -x is. Roots are those that are squares themselves.
//   ordered  a comparison is decided by whether the difference is a square: relu(x) + relu(-x) = |x|. It is
//            not transitive, but each outcome of a comparison occurs with some probability: `decisions`
//            counts them.
//   ties     the same, but some of the numbers that are compared count as equal.
//
// NaN and infinities exist in addition to numbers, as in IEEE 754. `unclear` means unknown; `missing` means a
// value that no real point has: a sum of squares that is no square.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/lattice.hpp"
#include "search/modular.hpp"
#include "search/sets.hpp"
#include "search/values.hpp"

namespace zellige::search {

struct FieldNumber {
  enum class Kind : std::uint8_t { number, nan, plus, minus, unclear, missing };
  static constexpr std::uint64_t absent = ~std::uint64_t{0};  // the part in Z_q of an exponential's result
  static constexpr std::uint64_t rootless = absent - 1;       // in Z_q, a number without a root
  static constexpr std::uint8_t below = 1, zero = 2, above = 4, anything = 7;  // possible signs

  std::uint64_t p = 0, q = 0;
  float numerator = 0, denominator = 0;   // upper bounds of their degrees
  float signs = 0, sign_denominator = 0;  // likewise, counting the outcomes of comparisons
  Sets::Index domain = Sets::empty;       // conditions under which it is not NaN
  Sets::Index decisions = Sets::empty;    // the comparisons and whole numbers that it depends on
  std::uint32_t logs = 0;                 // logarithms of which it contains integer multiples
  Kind kind = Kind::number;
  std::uint8_t may = anything;
  bool constant = false;
  bool piecewise = false;  // depends on a comparison: may be 0 on more than a few points
  bool fragile = false;    // may be infinite: equal only to what was computed in the same way
  bool boolean = false;    // 0 or 1
  bool whole = false;      // an integer
  bool graded = false;     // depends on an exponential
  bool hashed = false;     // its part in Z_q is made of random numbers
  bool rooted = false;     // depends on a root, whose sign may differ between Z_q and Z_p
};

class Field {
 public:
  using Number = FieldNumber;
  using Kind = FieldNumber::Kind;
  enum class Order : std::uint8_t { unknown, scaled, ordered, ties };

  /// Primes drawn by `seed`: q of 54 bits, p of 55 to 62.
  explicit Field(std::uint64_t seed, Order = Order::unknown);

  FieldNumber random(std::uint64_t draw) const;  // an input
  /// An integer drawn below `range`: one of that many cases. `place` identifies it.
  FieldNumber drawn(std::int64_t n, std::int64_t range, std::uint64_t place);
  FieldNumber integer(std::int64_t n);
  FieldNumber constant(double c);
  /// Reads a scalar as the product, quotient or sum of two others.
  void alias(double scalar, const FieldNumber& meaning) { constants_[scalar] = meaning; }

  FieldNumber add(const FieldNumber&, const FieldNumber&);
  FieldNumber sub(const FieldNumber& x, const FieldNumber& y) { return add(x, neg(y)); }
  FieldNumber neg(const FieldNumber&);
  FieldNumber mul(const FieldNumber&, const FieldNumber&);
  FieldNumber div(const FieldNumber&, const FieldNumber&);
  FieldNumber sqrt(const FieldNumber&);
  FieldNumber exp(const FieldNumber&);
  FieldNumber log(const FieldNumber&);
  FieldNumber pow(const FieldNumber&, const FieldNumber&);
  FieldNumber sin(const FieldNumber&);
  FieldNumber cos(const FieldNumber&);
  FieldNumber tanh(const FieldNumber&);  // 1 - 2 / (e^2x + 1)
  FieldNumber abs(const FieldNumber&);
  FieldNumber normal(const FieldNumber&);
  FieldNumber converted(const FieldNumber&, const graph::Attributes&);
  FieldNumber max(const FieldNumber&, const FieldNumber&);
  FieldNumber min(const FieldNumber& x, const FieldNumber& y) { return neg(max(neg(x), neg(y))); }
  FieldNumber max_of(std::vector<FieldNumber>);
  FieldNumber less(const FieldNumber&, const FieldNumber&);
  FieldNumber less_equal(const FieldNumber&, const FieldNumber&);
  FieldNumber same(const FieldNumber& x, const FieldNumber& y) {
    return mul(less_equal(x, y), less_equal(y, x));
  }
  FieldNumber choose(const FieldNumber& c, const FieldNumber& x, const FieldNumber& y);
  std::optional<std::int64_t> whole(const FieldNumber&) const;
  FieldNumber marked(FieldNumber x, const FieldNumber& by);                    // x, selected by `by`
  FieldNumber one_of(FieldNumber x, std::int64_t range, std::uint64_t place);  // x, one of `range` cases

  /// A dot product with mostly known integers.
  class Dot;

  std::uint64_t p() const { return p_; }
  std::uint64_t q() const { return q_; }
  /// The comparisons and integers in a set of decisions.
  struct Cases {
    double decisions = 0;  // two outcomes each
    double whole = 1;      // cases of the integers
    int whole_numbers = 0;
    bool many = false;
  };
  Cases cases(Sets::Index decisions) const;
  Sets::Index both(Sets::Index a, Sets::Index b) { return sets_.join(a, b); }

  /// Bookkeeping for laws of operators; switched off for operators that the graphs do not have, because it
  /// costs time.
  bool tells_logs = true, tells_order = true, tells_roots = true;
  /// An exponential's result, as an exponent, is either an unknown function of the whole exponent, or a
  /// random number that additions and multiples preserve: both are correct, and detect different laws.
  bool keeps_sums = false;
  bool took_nested = false;  // met an exponential of an exponential's result
  /// Index (0 or 1) of the graph being evaluated, to find out whether the two decide comparisons of equal
  /// numbers differently.
  int graph = 0;
  bool ties_clash() const;

  bool took_exp = false, took_unknown = false, took_order = false;  // kinds of operators met so far
  double steps = 0;                       // operations so far; those of a matmul count less
  double argument_degree = 0, calls = 0;  // of the arguments of exp and unknown functions

 private:
  enum class Unknown : std::uint8_t { exp, log, sqrt, sin, normal, pow, max, less, choose, cast, opaque };
  struct Grade {
    std::uint64_t count_p = 1, count_q = 1;
    FieldNumber sum;  // of the exponents
  };

  bool is_exact(const FieldNumber& x) const {
    return x.constant && x.decisions == Sets::empty && x.domain == Sets::empty && !x.fragile;
  }
  bool is(const FieldNumber& x, std::uint64_t n) const { return is_exact(x) && x.p == n && x.q == n; }
  double real(const FieldNumber& x) const;
  FieldNumber special(Kind) const;
  FieldNumber residue(std::uint64_t hash) const;
  void follow(FieldNumber& z, const FieldNumber& x) const;  // records that z is a function of x
  FieldNumber unknown(Unknown, const FieldNumber& x, std::uint64_t key = 0);
  enum class Op : std::uint8_t { add, mul, div, max, less, choose, exp, function };
  FieldNumber opaque(Op, const FieldNumber& x, const FieldNumber& y);
  FieldNumber merged(Op, const FieldNumber& x, const FieldNumber& y);
  FieldNumber known(FieldNumber z, double value);
  static std::uint64_t key(const FieldNumber& x);
  double count(Sets::Index decisions) const;
  bool sides() const { return order_ == Order::ordered || order_ == Order::ties; }
  bool tied(const FieldNumber& difference) const;
  int sign(const FieldNumber& x);  // 1 or -1 by squareness; 0: not the value of any real point
  void decide(FieldNumber& z, const FieldNumber& by);
  void require(FieldNumber& z, Unknown, const FieldNumber& x);  // z is NaN unless x is at least 0
  FieldNumber add_special(const FieldNumber&, const FieldNumber&);
  FieldNumber mul_special(const FieldNumber&, const FieldNumber&);
  FieldNumber div_special(const FieldNumber&, const FieldNumber&);
  FieldNumber power(FieldNumber x, int n);
  bool certainly_less_equal(const FieldNumber& x, const FieldNumber& y) const;
  std::optional<bool> certainly_less(const FieldNumber& x, const FieldNumber& y) const;
  FieldNumber greater(const FieldNumber& x, const FieldNumber& y);  // ordered
  FieldNumber greatest(const Lattice&, FieldNumber like);
  Lattice lattice(const FieldNumber&);
  /// z is the maximum x, shifted or scaled by a constant: the maximum of the shifted or scaled members.
  template <class Move>
  void move_members(const FieldNumber& z, const FieldNumber& x, const Move& move) {
    constexpr std::size_t capacity = 64;
    const auto at = lattices_.find(x.p);
    if (at == lattices_.end() || lattices_.count(z.p)) return;
    Lattice l = at->second;
    std::size_t count = 0;
    for (const Lattice::Clause& c : l.clauses) count += c.size();
    if (count > capacity) return;
    for (Lattice::Clause& c : l.clauses) {
      for (std::uint64_t& m : c) {
        const FieldNumber y = move(FieldNumber(members_.at(m)));
        members_.try_emplace(y.p, y);
        m = y.p;
      }
      std::sort(c.begin(), c.end());
    }
    std::sort(l.clauses.begin(), l.clauses.end());
    lattices_.emplace(z.p, std::move(l));
  }
  KnownOrder order();
  std::uint32_t log_terms(std::uint32_t a, std::uint32_t b);
  std::uint32_t log_times(std::uint32_t a, std::int64_t n);
  Grade grade(const FieldNumber&);
  FieldNumber count_of(const Grade&);

  void power_law(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y, int times);
  std::uint64_t exponent(const FieldNumber& x) const;  // its part in Z_q, or its substitute
  void tie(const FieldNumber& difference, int sides);

  // per difference: how each graph decides a comparison with 0
  std::map<std::uint64_t, std::array<int, 2>> ties_;
  std::uint64_t seed_, p_ = 0, q_ = 0, w_ = 0;
  Order order_;
  std::vector<std::uint64_t> powers_;  // powers of w, by six bits of the exponent
  Sets sets_;
  std::unordered_map<double, FieldNumber> constants_;
  std::unordered_map<std::uint64_t, double> reals_;           // of constants
  std::unordered_map<std::uint64_t, double> ranges_;          // of the integers drawn, by element
  std::unordered_map<std::uint64_t, FieldNumber> members_;    // of lattices
  std::unordered_map<std::uint64_t, Lattice> lattices_;       // the operands of each maximum
  std::unordered_map<std::uint64_t, FieldNumber> squares_;    // x by x^2
  std::unordered_map<std::uint64_t, FieldNumber> roots_;      // x^2 by |x|, or x by its root
  std::unordered_map<std::uint64_t, FieldNumber> exponents_;  // x by e^x
  std::unordered_map<std::uint64_t, std::pair<FieldNumber, FieldNumber>> quotients_;
  std::unordered_map<std::uint64_t, Grade> grades_;
  std::vector<std::uint64_t> logged_;  // the argument of each logarithm
  std::unordered_map<std::uint64_t, std::uint32_t> logged_at_;
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> log_sums_{{}};
  std::map<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::uint32_t> log_sum_at_;
};

/// Reduces the sum modulo p and q once every few terms; terms that are not known integers are added one by
/// one.
class Field::Dot {
 public:
  explicit Dot(Field& field) : f_(field) {}
  void add(const FieldNumber& x, const FieldNumber& y);
  FieldNumber value();

 private:
  Field& f_;
  Wide p_ = 0, q_ = 0;
  int terms_ = 0;
  bool fast_ = false, slow_ = false;
  FieldNumber sum_, rest_;  // flags and degrees of the fast terms; the sum of the others
};

}  // namespace zellige::search
