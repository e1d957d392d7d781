// The values of a random finite field, its primes, and what is known of the numbers that were computed in it (field.hpp).
#pragma once
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "number/lattice.hpp"
#include "number/modular.hpp"
#include "number/sets.hpp"

namespace zellige::number {

/// Upper bounds of the degrees of a rational function: of sums, products and quotients.
struct Degrees {
  float numerator = 0, denominator = 0;
  friend Degrees operator+(Degrees x, Degrees y) {
    return {std::max(x.numerator + y.denominator, y.numerator + x.denominator), x.denominator + y.denominator};
  }
  friend Degrees operator*(Degrees x, Degrees y) { return {x.numerator + y.numerator, x.denominator + y.denominator}; }
  friend Degrees operator/(Degrees x, Degrees y) { return x * Degrees{y.denominator, y.numerator}; }
  double all() const { return double{numerator} + denominator; }
};

/// A value in a finite field, with what is known of the real number that it represents.
struct FieldNumber {
  enum class Kind : std::uint8_t { number, nan, plus, minus, unclear, missing };
  // Value of q for the result of an exponential, which has no residue modulo q.
  static constexpr std::uint64_t absent = ~std::uint64_t{0};
  static constexpr std::uint64_t rootless = absent - 1;  // value of q if a root does not exist modulo q
  static constexpr std::uint8_t below = 1, zero = 2, above = 4, anything = 7;  // possible signs, as bits

  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  std::uint64_t p = 0, q = 0;           // residues modulo the two primes
  Degrees degrees;                      // of the value as a rational function of the inputs
  Degrees sides;                        // the same, in the outcomes of comparisons
  Sets::Index domain = Sets::empty;     // set of conditions under which it is not NaN
  Sets::Index decisions = Sets::empty;  // set of comparisons and drawn integers that it depends on
  // The sign of the zeros that it takes: 1 for +0, p - 1 for -0, or a product of factors of unknown sign.
  std::uint64_t zero_sign = 1;
  // Its sign is that of slope * x + shift, where x is the number whose residue modulo p is `base`; 0: nothing is known.
  // With `line`, it is that number.
  std::uint64_t base = 0;
  double slope = 0, shift = 0;
  bool line = false;
  double lowest = -unlimited, greatest = unlimited;  // bounds of the real number
  // Index of the sum of logarithms that it contains (log_sums_); 0: none.
  std::uint32_t logs = 0;
  Kind kind = Kind::number;
  std::uint8_t may = anything;  // its possible signs
  bool constant = false;        // a constant, whose real value is known
  bool unsettled = false;       // depends on a maximum, comparison or cast that this field leaves open
  bool vanishes = false;        // may be 0 on more than a few points, although its residues are not
  bool fragile = false;         // may be infinite: equal only to what was computed in the same way
  bool boolean = false;         // its value is 0 or 1
  bool whole = false;           // its value is an integer
  bool graded = false;          // depends on an exponential
  bool hashed = false;          // its residue modulo q is made of random numbers
  bool rooted = false;          // depends on a root, whose sign may differ between the two residues

  /// Returns whether it is a positive number everywhere, and no constant: products with it keep their sign.
  bool positive_factor() const { return kind == Kind::number && may == above && !constant && !fragile && !vanishes; }

  /// Returns this value with another kind.
  FieldNumber as(Kind k) const {
    FieldNumber z = *this;
    z.kind = k;
    return z;
  }
};

/// A random finite field without its operations: its primes, options, and tables of its numbers.
struct FieldTables {
  using Kind = FieldNumber::Kind;
  enum class Order : std::uint8_t { unknown, scaled, ordered, ties };
  enum class Unknown : std::uint8_t { exp, log, sqrt, sin, normal, pow, max, less, choose, cast, wrap, opaque };
  enum class Op : std::uint8_t { add, mul, div, max, less, choose, exp, function };
  static constexpr std::uint64_t absent = FieldNumber::absent, rootless = FieldNumber::rootless;
  static constexpr std::uint8_t below = FieldNumber::below, zero = FieldNumber::zero, above = FieldNumber::above;
  /// A number as a sum of exponentials: the number of its terms, modulo p and q, and the sum of the terms' exponents.
  struct Grade {
    std::uint64_t count_p = 1, count_q = 1;
    FieldNumber sum;  // of the exponents
  };

  /// The number of cases that a set of decisions distinguishes. A decision is a comparison, or an integer of an
  /// input (a row index or length).
  struct Cases {
    double decisions = 0;    // signs, of two outcomes each, those of comparisons among them
    double comparisons = 0;  // signs of comparisons, whose numbers may also be equal
    double whole = 1;        // product of the ranges of the integers
    int whole_numbers = 0;   // number of integers
    bool many = false;       // more than a set can hold: the counts are too small
  };
  using LogSum = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // each as (logarithm, multiple)

  /// Draws the primes p and q of the field from `seed`: q has 54 bits, p has 55 to 62 bits.
  FieldTables(std::uint64_t seed, Order);

  std::uint64_t p() const { return p_; }
  std::uint64_t q() const { return q_; }
  FieldNumber random(std::uint64_t draw) const;  // an input of a graph, the n-th draw
  FieldNumber integer(std::int64_t n);
  /// Returns a scalar of a graph as a field number: the fraction that the scalar represents (fraction.hpp).
  FieldNumber constant(double c);
  /// Makes constant(scalar) return `meaning`, such as the product of two other scalars.
  void alias(double scalar, const FieldNumber& meaning) { constants[scalar] = meaning; }

  /// Returns the number as an integer, or nullopt if it is not a known integer.
  std::optional<std::int64_t> whole(const FieldNumber&) const;
  // Returns x, marked as selected by the integer `by`, such as a row index: the result depends on all
  // comparisons and input integers on which `by` depends.
  FieldNumber marked(FieldNumber x, const FieldNumber& by);
  // Returns x, marked as depending on a choice among `range` cases, such as an integer that an input
  // element holds. The number `place` identifies the choice: for an input element, its number among the
  // elements of all inputs; for a row that a scatter does not write, the row's index.
  FieldNumber one_of(FieldNumber x, std::int64_t range, std::uint64_t place);
  Cases cases(Sets::Index decisions) const;
  /// Returns the union of two sets of decisions.
  Sets::Index both(Sets::Index a, Sets::Index b) { return sets.join(a, b); }
  /// Returns whether x is a constant that depends on no comparison and no input's integer, and is never NaN.
  bool is_exact(const FieldNumber& x) const {
    return x.constant && x.decisions == Sets::empty && x.domain == Sets::empty && !x.fragile;
  }
  /// Returns whether the number is exactly the integer n.
  bool is(const FieldNumber& x, std::uint64_t n) const { return is_exact(x) && x.p == n && x.q == n; }
  /// Returns the real value of x, which must be a constant.
  double real(const FieldNumber& x) const { return x.p <= 1 ? static_cast<double>(x.p) : reals.at(x.p); }
  /// Returns the special value of this kind: NaN, an infinity, `unclear` or `missing`.
  static FieldNumber special(Kind kind) { return FieldNumber{}.as(kind); }
  /// Returns a random number that is determined by the hash.
  FieldNumber residue(std::uint64_t hash) const { return {.p = hash % p_, .q = draw(hash, 0) % q_, .degrees = {1}}; }
  void follow(FieldNumber& z, const FieldNumber& x) const;  // records that z is a function of x
  /// Returns the value at x of an uninterpreted function: equal arguments give equal random values, and nothing else is
  /// known. The first argument is the kind of function; `key` distinguishes functions of one kind.
  FieldNumber unknown(Unknown, const FieldNumber& x, std::uint64_t key = 0);
  /// Returns a result of which it is unknown whether it is a number, an infinity or NaN. It is equal only to
  /// results of the same operation on equal operands.
  FieldNumber opaque(Op, const FieldNumber& x, const FieldNumber& y);
  /// Returns a number with the properties that a result of x and y inherits from x and y, such as the
  /// comparisons on which it depends. Its residues modulo p and q are not set.
  FieldNumber merged(Op, const FieldNumber& x, const FieldNumber& y);
  /// Returns z, marked as a constant with the real value `value`.
  FieldNumber known(FieldNumber z, double value);
  /// Returns a hash of the number and of the conditions under which the number is not NaN.
  static std::uint64_t key(const FieldNumber& x);
  /// Returns the size of a set of decisions, or infinity if the set is Sets::many, whose elements are not stored.
  double count(Sets::Index decisions) const;
  /// Returns whether this field decides comparisons, by whether the difference is a square (ordered and ties).
  bool sides() const { return order == Order::ordered || order == Order::ties; }
  /// Returns the sign of x if it is a small fraction or the residues of a constant, else 0.
  int sign_of_fraction(const FieldNumber& x) const;
  /// Returns z, marked as possibly infinite at many points: equal only to what has the same `key`.
  FieldNumber open(FieldNumber z, std::uint64_t key);
  /// Returns the index in log_sums of a sum of logarithms. Stores the sum if it is new.
  std::uint32_t log_sum(LogSum terms);
  /// Returns the index of the sum of two sums of logarithms, which have the indices `a` and `b` in log_sums.
  std::uint32_t log_terms(std::uint32_t a, std::uint32_t b);
  /// Returns the index of n times a sum of logarithms, which has the index `a` in log_sums.
  std::uint32_t log_times(std::uint32_t a, std::int64_t n);
  /// Returns the residue of x modulo q, with a random number in place of each logarithm.
  std::uint64_t without_logs(const FieldNumber& x) const;
  /// Returns the number of terms, and the sum of their exponents, of x = e^a + e^b + ..., a sum of exponentials. If x
  /// depends on no exponential, it counts as one term with exponent 0; if x is 0, as no term.
  Grade grade(const FieldNumber&);
  /// Returns the number of terms of a sum of exponentials, which `grade` describes, as a field number.
  FieldNumber count_of(const Grade& g) {
    return known({.p = g.count_p, .q = g.count_q}, static_cast<double>(g.count_p));
  }
  /// Returns the residue modulo q that replaces x where x is an exponent: 0 for 0, else FieldNumber::q. The result x of an
  /// exponential has none: with keeps_sums, returns a random number that is the same wherever x occurs, else `absent`.
  std::uint64_t exponent(const FieldNumber& x) const;

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

  std::uint64_t seed;
  // With Order::unknown: a root of -1 modulo p; and the number modulo q that i is as a factor of exponents.
  std::uint64_t imaginary = 0, angle = 0;
  Order order;
  std::vector<std::uint64_t> powers;  // of w, by six bits of the exponent: w^(d 64^place) at 64 place + d
  Sets sets;
  std::unordered_map<double, FieldNumber> constants;
  std::unordered_map<std::uint64_t, double> reals;  // by residue modulo p: the real value of a constant
  // By the base of lines: the open interval in which the real number lies, as far as comparisons have drawn it.
  std::unordered_map<std::uint64_t, std::pair<double, double>> intervals;
  std::unordered_map<std::uint64_t, std::pair<double, double>>
      ranges_of_inputs;                                      // by residue modulo p: the bounds of an integer
  std::unordered_map<std::uint64_t, FieldNumber> cores;      // by residue modulo p: core()
  std::unordered_set<std::uint64_t> jumps;                   // decisions that are comparisons
  std::unordered_map<std::uint64_t, double> ranges;          // by decision that is a drawn integer: its range
  std::unordered_map<std::uint64_t, FieldNumber> members;    // by residue modulo p: members of maxima
  std::unordered_map<std::uint64_t, Lattice> lattices;       // by residue modulo p of a maximum: its normal form
  std::unordered_map<std::uint64_t, FieldNumber> squares;    // by residue modulo p of x^2: x
  std::unordered_map<std::uint64_t, FieldNumber> roots;      // by residue modulo p of |x| or a root: its square
  std::unordered_map<std::uint64_t, FieldNumber> exponents;  // by residue modulo p of e^x: x
  std::unordered_map<std::uint64_t, std::pair<FieldNumber, FieldNumber>>
      quotients;  // by residue modulo p of x / y: x, y > 0
  std::unordered_set<std::uint64_t>
      logs_under_way;  // arguments, by residue modulo p: a factor may be a quotient of them
  std::unordered_map<std::uint64_t, std::pair<FieldNumber, FieldNumber>>
      products;                                     // by residue modulo p of x y: x, y > 0
  std::unordered_map<std::uint64_t, Grade> grades;  // by residue modulo p
  std::vector<std::uint64_t> logged;                // by logarithm: the residue modulo p of its argument
  std::unordered_map<std::uint64_t, std::uint32_t> logged_at;
  std::vector<LogSum> log_sums{{}};
  std::map<LogSum, std::uint32_t> log_sum_at;

 private:
  std::uint64_t p_ = 0, q_ = 0;
};

}  // namespace zellige::number
