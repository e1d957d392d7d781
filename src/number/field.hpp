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
#include "number/field_tables.hpp"
#include "number/values.hpp"

namespace zellige::number {

class Field;

// Functions of numbers of a field: field_functions.cpp and field_order.cpp.
FieldNumber sqrt(Field&, const FieldNumber&);
FieldNumber exp(Field&, const FieldNumber&);
FieldNumber log(Field&, const FieldNumber&);
FieldNumber pow(Field&, const FieldNumber&, const FieldNumber&);
FieldNumber sin(Field&, const FieldNumber&);  // (e^ix - e^-ix) / 2i
FieldNumber cos(Field&, const FieldNumber&);
FieldNumber tanh(Field&, const FieldNumber&);  // 1 - 2 / (e^2x + 1)
FieldNumber abs(Field&, const FieldNumber&);
FieldNumber normal(Field&, const FieldNumber&);  // the normal cumulative distribution function
FieldNumber converted(Field&, const FieldNumber&, const graph::Attributes&);  // a cast
/// Returns the integer x in two's complement of `bits` bits: x if it is in range, else an unknown function of x.
FieldNumber wrapped(Field&, const FieldNumber& x, int bits);
FieldNumber max_of(Field&, std::vector<FieldNumber>);
FieldNumber less(Field&, const FieldNumber&, const FieldNumber&);
FieldNumber less_equal(Field&, const FieldNumber&, const FieldNumber&);
FieldNumber choose(Field&, const FieldNumber& c, const FieldNumber& x, const FieldNumber& y);

/// One random finite field, with the arithmetic that evaluate_graph uses (values.hpp).
class Field : public FieldTables {
 public:
  using Number = FieldNumber;

  explicit Field(std::uint64_t seed, Order order = Order::unknown) : FieldTables(seed, order) {}

  FieldNumber add(const FieldNumber&, const FieldNumber&);
  FieldNumber sub(const FieldNumber& x, const FieldNumber& y) { return add(x, neg(y)); }
  FieldNumber neg(const FieldNumber&);
  FieldNumber mul(const FieldNumber&, const FieldNumber&);
  FieldNumber div(const FieldNumber&, const FieldNumber&);
  FieldNumber sqrt(const FieldNumber& x) { return number::sqrt(*this, x); }
  FieldNumber exp(const FieldNumber& x) { return number::exp(*this, x); }
  FieldNumber log(const FieldNumber& x) { return number::log(*this, x); }
  FieldNumber pow(const FieldNumber& x, const FieldNumber& y) { return number::pow(*this, x, y); }
  FieldNumber sin(const FieldNumber& x) { return number::sin(*this, x); }
  FieldNumber cos(const FieldNumber& x) { return number::cos(*this, x); }
  FieldNumber tanh(const FieldNumber& x) { return number::tanh(*this, x); }
  FieldNumber abs(const FieldNumber& x) { return number::abs(*this, x); }
  FieldNumber normal(const FieldNumber& x) { return number::normal(*this, x); }
  FieldNumber converted(const FieldNumber& x, const graph::Attributes& a) { return number::converted(*this, x, a); }
  FieldNumber wrapped(const FieldNumber& x, int bits) { return number::wrapped(*this, x, bits); }
  FieldNumber max(const FieldNumber& x, const FieldNumber& y) { return max_of({x, y}); }
  FieldNumber min(const FieldNumber& x, const FieldNumber& y) { return neg(max(neg(x), neg(y))); }
  FieldNumber max_of(std::vector<FieldNumber> all) { return number::max_of(*this, std::move(all)); }
  FieldNumber less(const FieldNumber& x, const FieldNumber& y) { return number::less(*this, x, y); }
  FieldNumber less_equal(const FieldNumber& x, const FieldNumber& y) { return number::less_equal(*this, x, y); }
  FieldNumber same(const FieldNumber& x, const FieldNumber& y) { return mul(less_equal(x, y), less_equal(y, x)); }
  FieldNumber choose(const FieldNumber& c, const FieldNumber& x, const FieldNumber& y) {
    return number::choose(*this, c, x, y);
  }

  class Dot;

  /// Returns a number that has the sign of x everywhere: x without positive factors, and a - b if x is e^a - e^b.
  FieldNumber core(const FieldNumber& x);
  /// Returns the sign of x, 1 or -1, by squareness; 0: no real number has this sign.
  int sign(const FieldNumber& x);
  /// Records that z depends on the sign of `by`.
  void decide(FieldNumber& z, const FieldNumber& by);
};

/// Sums products of numbers and reduces the sum modulo p and q once every few terms. Products of numbers with
/// special properties, such as a domain, are added one by one.
class Field::Dot {
 public:
  explicit Dot(Field& field) : f_(field) {}
  void add(const FieldNumber& x, const FieldNumber& y);
  /// Returns the dot product: the sum of the products added so far.
  FieldNumber value();

 private:
  Field& f_;
  Wide p_ = 0, q_ = 0;
  int terms_ = 0;
  double lowest_ = 0, greatest_ = 0;
  bool fast_ = false, slow_ = false;
  FieldNumber sum_, rest_;  // properties of sum of the fast terms; sum of the others
};

}  // namespace zellige::number
