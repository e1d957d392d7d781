// Arithmetic in random finite fields, to test whether two graphs are equal (field_trials.hpp). Values that
// are equal over the real numbers are equal in every field. Different values are equal in a random field only
// with a small probability. Each number carries what bounds this probability, such as its degree as a
// rational function of the inputs.
//
// A number is a pair of residues, one modulo p and one modulo q, two primes of which q divides p - 1. Exponentials are
// e^x = w^(x mod q) modulo p, where w has order q, so that e^x e^y = e^(x+y) holds. The result of an exponential has no
// residue modulo q; if it is used as an exponent itself, a random number replaces that residue. A logarithm remembers
// its argument, so that ln e^x = x, e^(ln x) = x and ln(x e^y) = y + ln x hold. Sines and cosines are made of
// e^ix = w^(s x), where s is drawn, and of a root of -1 modulo p.
//
// Residues have no order. `Order` says how maxima, comparisons and roots are evaluated nevertheless:
//
//   unknown  Maxima are compared by the normal form of lattice.hpp. Adding a constant to all operands of a maximum
//            adds it to the maximum. Comparisons, roots, casts to integers and selections are uninterpreted
//            functions: equal arguments give equal random numbers. Graphs that are equal in these fields are equal
//            whatever these functions are.
//   scaled   As unknown; in addition, multiplying all operands of a maximum by a positive constant multiplies the
//            maximum by it. p = 3 mod 4, and small primes are squares. So the squares can represent the positive
//            numbers: products of squares are squares, and of x and -x one is a square. Of the two square roots
//            of a number, the one that is a square is used.
//   ordered  A comparison is decided by whether the difference is a square, so that relu(x) + relu(-x) = |x|. This
//            order is not transitive, but each outcome of a comparison occurs with some probability, and
//            `decisions` counts the comparisons.
//   ties     As ordered, and some of the numbers that are compared count as equal.
//
// NaN and infinities exist besides numbers, as in IEEE 754. Two more kinds of values exist. `unclear`: it is
// unknown whether the value is a number, an infinity or NaN. `missing`: the value cannot occur over the real
// numbers, such as the root of a sum of squares that is no square in the field.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "number/field_number.hpp"
#include "number/lattice.hpp"
#include "number/modular.hpp"
#include "number/values.hpp"

namespace zellige::number {

/// One random finite field, with the arithmetic that evaluate_graph uses (values.hpp).
class Field {
 public:
  using Number = FieldNumber;
  using Kind = FieldNumber::Kind;
  enum class Order : std::uint8_t { unknown, scaled, ordered, ties };

  /// Draws the primes p and q of the field from `seed`: q has 54 bits, p has 55 to 62 bits.
  explicit Field(std::uint64_t seed, Order = Order::unknown);

  FieldNumber random(std::uint64_t draw) const;  // an input of a graph, the n-th draw
  FieldNumber integer(std::int64_t n);
  /// Returns a scalar of a graph as a field number: the fraction that the scalar represents (fraction.hpp).
  FieldNumber constant(double c);
  /// Makes constant(scalar) return `meaning`, such as the product of two other scalars.
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
  FieldNumber sin(const FieldNumber&);  // (e^ix - e^-ix) / 2i
  FieldNumber cos(const FieldNumber&);
  FieldNumber tanh(const FieldNumber&);  // 1 - 2 / (e^2x + 1)
  FieldNumber abs(const FieldNumber&);
  FieldNumber normal(const FieldNumber&);                               // the normal cumulative distribution function
  FieldNumber converted(const FieldNumber&, const graph::Attributes&);  // a cast
  /// Returns the integer x in two's complement of `bits` bits: x if it is in range, else an unknown function of x.
  FieldNumber wrapped(const FieldNumber& x, int bits);
  FieldNumber max(const FieldNumber&, const FieldNumber&);
  FieldNumber min(const FieldNumber& x, const FieldNumber& y) { return neg(max(neg(x), neg(y))); }
  FieldNumber max_of(std::vector<FieldNumber>);
  FieldNumber less(const FieldNumber&, const FieldNumber&);
  FieldNumber less_equal(const FieldNumber&, const FieldNumber&);
  FieldNumber same(const FieldNumber& x, const FieldNumber& y) { return mul(less_equal(x, y), less_equal(y, x)); }
  FieldNumber choose(const FieldNumber& c, const FieldNumber& x, const FieldNumber& y);
  /// Returns the number as an integer, or nullopt if it is not a known integer.
  std::optional<std::int64_t> whole(const FieldNumber&) const;
  // Returns x, marked as selected by the integer `by`, such as a row index: the result depends on all
  // comparisons and input integers on which `by` depends.
  FieldNumber marked(FieldNumber x, const FieldNumber& by);
  // Returns x, marked as depending on a choice among `range` cases, such as an integer that an input
  // element holds. The number `place` identifies the choice: for an input element, its number among the
  // elements of all inputs; for a row that a scatter does not write, the row's index.
  FieldNumber one_of(FieldNumber x, std::int64_t range, std::uint64_t place);

  /// A dot product, for which many products are reduced modulo p and q at once.
  class Dot;

  std::uint64_t p() const { return p_; }
  std::uint64_t q() const { return q_; }
  /// Returns a number that has the sign of x everywhere: x without positive factors, and a - b if x is e^a - e^b.
  FieldNumber core(const FieldNumber& x);
  /// The number of cases that a set of decisions distinguishes. A decision is a comparison, or an integer of an
  /// input (a row index or length).
  struct Cases {
    double decisions = 0;    // signs, of two outcomes each, those of comparisons among them
    double comparisons = 0;  // signs of comparisons, whose numbers may also be equal
    double whole = 1;        // product of the ranges of the integers
    int whole_numbers = 0;   // number of integers
    bool many = false;       // more than a set can hold: the counts are too small
  };
  Cases cases(Sets::Index decisions) const;
  /// Returns the union of two sets of decisions: of the comparisons and input integers (row indices or
  /// lengths) on which values depend.
  Sets::Index both(Sets::Index a, Sets::Index b) { return sets_.join(a, b); }

  /// Whether laws of logarithms, of the order and of roots are kept track of. False for graphs without such
  /// operators, to save time.
  bool tells_logs = true, tells_order = true, tells_roots = true;
  /// How the result of an exponential is used as an exponent. True: it is replaced by a random number, which
  /// sums and multiples preserve. False: the exponential of an exponent with such a result is an unknown
  /// function. Both are correct, but find different graphs equal.
  bool keeps_sums = false;
  bool took_nested = false;  // an exponential of an exponential's result occurred
  /// A comparison or selection was decided that equal numbers may decide otherwise than any other numbers do.
  bool compared = false;
  /// With Order::ordered and ties: whether the numbers a x + b, for constants a and b, are ordered as those of one real x
  /// are. False: the sign of each is whether it is a square, which keeps the signs of products and roots instead.
  bool lines = false;
  /// With Order::ties: whether one of three comparisons counts as one of equal numbers, although they differ here.
  bool draws_ties = true;

  bool took_exp = false, took_unknown = false;  // operators of these kinds occurred
  double steps = 0;                             // number of operations so far; those of a matmul count less
  // Largest degree of the arguments of exp and unknown functions; number of such calls.
  double argument_degree = 0, calls = 0;

 private:
  static constexpr std::uint64_t absent = FieldNumber::absent, rootless = FieldNumber::rootless;
  static constexpr std::uint8_t below = FieldNumber::below, zero = FieldNumber::zero, above = FieldNumber::above;
  enum class Unknown : std::uint8_t { exp, log, sqrt, sin, normal, pow, max, less, choose, cast, wrap, opaque };
  /// A number as a sum of exponentials: the number of its terms, modulo p and q, and the sum of the terms' exponents.
  struct Grade {
    std::uint64_t count_p = 1, count_q = 1;
    FieldNumber sum;  // of the exponents
  };

  /// Returns whether x is a constant that depends on no comparison and no input's integer, and is never NaN.
  bool is_exact(const FieldNumber& x) const {
    return x.constant && x.decisions == Sets::empty && x.domain == Sets::empty && !x.fragile;
  }
  /// Returns whether the number is exactly the integer n.
  bool is(const FieldNumber& x, std::uint64_t n) const { return is_exact(x) && x.p == n && x.q == n; }
  /// Returns the real value of x, which must be a constant.
  double real(const FieldNumber& x) const;
  /// Returns the special value of this kind: NaN, an infinity, `unclear` or `missing`.
  FieldNumber special(Kind) const;
  /// Returns a random number that is determined by the hash.
  FieldNumber residue(std::uint64_t hash) const;
  void follow(FieldNumber& z, const FieldNumber& x) const;  // records that z is a function of x
  /// Returns the value at x of an uninterpreted function: equal arguments give equal random values, and nothing else is
  /// known. The first argument is the kind of function; `key` distinguishes functions of one kind.
  FieldNumber unknown(Unknown, const FieldNumber& x, std::uint64_t key = 0);
  enum class Op : std::uint8_t { add, mul, div, max, less, choose, exp, function };
  /// Returns w^n modulo p.
  std::uint64_t power_of_w(std::uint64_t n) const;
  /// Returns the sine of x, or its cosine if `even`, from e^(ix), so that addition theorems hold; modulo q and where x is
  /// no exponent, from the tangent of half the angle, so that sin^2 + cos^2 = 1.
  FieldNumber wave(const FieldNumber& x, bool even);
  /// Returns a result of which it is unknown whether it is a number, an infinity or NaN. It is equal only to
  /// results of the same operation on equal operands.
  FieldNumber opaque(Op, const FieldNumber& x, const FieldNumber& y);
  /// Returns a number with the properties that a result of x and y inherits from x and y, such as the
  /// comparisons on which it depends. Its values modulo p and q (the field's
  /// primes) are not set.
  FieldNumber merged(Op, const FieldNumber& x, const FieldNumber& y);
  /// Returns z, marked as a constant with the real value `value`.
  FieldNumber known(FieldNumber z, double value);
  /// Returns a hash of the number and of the conditions under which the number is not NaN.
  static std::uint64_t key(const FieldNumber& x);
  /// Returns the size of a set of decisions, or infinity if the set is Sets::many, whose elements are not stored. A
  /// decision is a comparison, or an integer of an input (a row index or length), on which a value depends.
  double count(Sets::Index decisions) const;
  /// Returns whether this field decides comparisons, by whether the difference is a square (ordered and ties).
  bool sides() const { return order_ == Order::ordered || order_ == Order::ties; }
  /// Returns whether two numbers with this difference count as equal, as some pairs do with Order::ties.
  bool tied(const FieldNumber& difference);
  /// Returns the sign of x if it is a small fraction or the residues of a constant, else 0.
  int sign_of_fraction(const FieldNumber& x) const;
  /// Returns x as a line (FieldNumber::base): its own, or itself.
  FieldNumber as_line(const FieldNumber& x) const;
  /// Sets the line of z = x + y, and of z = x y.
  void add_lines(FieldNumber& z, const FieldNumber& x, const FieldNumber& y) const;
  void mul_lines(FieldNumber& z, const FieldNumber& x, const FieldNumber& y) const;
  /// Returns the sign of x, whose line has a base: a number that is drawn such that each order of it and the bounds with
  /// which it is compared has the same chance as that of this number of coins.
  int sign_on_line(const FieldNumber& x);
  std::uint64_t zero_factor(const FieldNumber& x) const;
  FieldNumber open(FieldNumber z, std::uint64_t key);
  /// Records that z has the sign of x everywhere.
  void same_sign(const FieldNumber& z, const FieldNumber& x);
  /// Records the sign of z = x + y if that is a difference of exponentials, or of an exponential and 1.
  void exponential_signs(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y);
  int sign(const FieldNumber& x);  // returns 1 or -1 by squareness; 0: no real number has this sign
  /// Records that z depends on the sign of `by`.
  void decide(FieldNumber& z, const FieldNumber& by);
  void require(FieldNumber& z, Unknown, const FieldNumber& x);  // z is NaN unless x is at least 0
  FieldNumber add_special(const FieldNumber&, const FieldNumber&);
  FieldNumber mul_special(const FieldNumber&, const FieldNumber&);
  FieldNumber div_special(const FieldNumber&, const FieldNumber&);
  /// Returns whether it is certain that x <= y for all inputs of the graphs for which x and y are numbers.
  bool certainly_less_equal(const FieldNumber& x, const FieldNumber& y) const;
  /// Returns whether x < y, or nullopt if that is not certain.
  std::optional<bool> certainly_less(const FieldNumber& x, const FieldNumber& y) const;
  FieldNumber unknown_less(const FieldNumber& x, const FieldNumber& y, std::uint64_t key);  // of unknown()
  FieldNumber greater(const FieldNumber& x, const FieldNumber& y);  // ordered: returns the larger
  /// Returns the maximum with this normal form. The maximum's other properties, such as the conditions under
  /// which it is not NaN, are copied from `like`.
  FieldNumber greatest(const Lattice&, FieldNumber like);
  /// Returns the normal form of a number that is a maximum. For any other number, returns the normal form
  /// whose only member is that number.
  Lattice lattice(const FieldNumber&);
  /// Sets the normal form of z, which is the maximum x plus or times a constant: the normal form of x with
  /// move(m) in place of each member m (an operand of the maximum).
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
      std::ranges::sort(c);
    }
    std::ranges::sort(l.clauses);
    lattices_.emplace(z.p, std::move(l));
  }
  /// Returns what is known of the members (operands) of maxima: which are constant, which are at most another.
  KnownOrder order();
  using LogSum = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // each as (logarithm, multiple)
  /// Returns the index in log_sums_ of a sum of logarithms. Stores the sum if it is new.
  std::uint32_t log_sum(LogSum terms);
  /// Returns the index of the sum of two sums of logarithms, which have the indices `a` and `b` in log_sums_.
  std::uint32_t log_terms(std::uint32_t a, std::uint32_t b);
  /// Returns the index of n times a sum of logarithms, which has the index `a` in log_sums_.
  std::uint32_t log_times(std::uint32_t a, std::int64_t n);
  /// Returns ln x if x is known as an exponential, a quotient or product of positive numbers, or a root.
  std::optional<FieldNumber> log_by_law(const FieldNumber& x);
  /// Returns the residue of x modulo q, with a random number in place of each logarithm.
  std::uint64_t without_logs(const FieldNumber& x) const;
  /// Returns the number of terms, and the sum of their exponents, of x = e^a + e^b + ..., a sum of exponentials. If x
  /// depends on no exponential, it counts as one term with exponent 0; if x is 0, as no term.
  Grade grade(const FieldNumber&);
  /// Returns the number of terms of a sum of exponentials, which `grade` describes, as a field number.
  FieldNumber count_of(const Grade&);

  /// If x = e^a and y = e^b are exponentials, records that z is one, too: z = x y = e^(a+b) if times is 1, z
  /// = x / y = e^(a-b) if times is -1.
  void power_law(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y, int times);
  std::uint64_t exponent(const FieldNumber& x) const;  // its residue modulo q, or what replaces that
  std::uint64_t seed_, p_ = 0, q_ = 0, w_ = 0;
  // With Order::unknown: a root of -1 modulo p; and the number modulo q that i is as a factor of exponents.
  std::uint64_t i_ = 0, angle_ = 0;
  Order order_;
  // Powers of w, by six bits of the exponent: w^(d 64^place) at 64 place + d.
  std::vector<std::uint64_t> powers_;
  Sets sets_;
  std::unordered_map<double, FieldNumber> constants_;
  // By residue modulo p: the real value of a constant.
  std::unordered_map<std::uint64_t, double> reals_;
  // By the base of lines: the open interval in which the real number lies, as far as comparisons have drawn it.
  std::unordered_map<std::uint64_t, std::pair<double, double>> intervals_;
  std::unordered_map<std::uint64_t, FieldNumber> cores_;  // by residue modulo p: core()
  std::unordered_set<std::uint64_t> jumps_;               // decisions that are comparisons
  // By decision that is a drawn integer: its range.
  std::unordered_map<std::uint64_t, double> ranges_;
  std::unordered_map<std::uint64_t, FieldNumber> members_;  // by residue modulo p: members of maxima
  // By residue modulo p of a maximum: its normal form.
  std::unordered_map<std::uint64_t, Lattice> lattices_;
  std::unordered_map<std::uint64_t, FieldNumber> squares_;  // by residue modulo p of x^2: x
  // By residue modulo p of |x| or a root: its square.
  std::unordered_map<std::uint64_t, FieldNumber> roots_;
  std::unordered_map<std::uint64_t, FieldNumber> exponents_;  // by residue modulo p of e^x: x
  // By residue modulo p of a quotient of positive numbers: the dividend and divisor.
  std::unordered_map<std::uint64_t, std::pair<FieldNumber, FieldNumber>> quotients_;
  std::unordered_set<std::uint64_t>
      logs_under_way_;  // arguments, by residue modulo p: a factor may be a quotient of them
  // By residue modulo p of a product of positive numbers: its factors.
  std::unordered_map<std::uint64_t, std::pair<FieldNumber, FieldNumber>> products_;
  std::unordered_map<std::uint64_t, Grade> grades_;  // by residue modulo p
  std::vector<std::uint64_t> logged_;                // by logarithm: the residue modulo p of its argument
  std::unordered_map<std::uint64_t, std::uint32_t> logged_at_;
  std::vector<LogSum> log_sums_{{}};
  std::map<LogSum, std::uint32_t> log_sum_at_;
};

}  // namespace zellige::number
