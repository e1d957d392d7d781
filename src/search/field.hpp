// Random finite fields: what is equal over the reals is equal there, and what is not comes out equal with a
// chance of about degree / 2^61.
//
// A number is a pair, one in Z_p and one in Z_q, where q divides p - 1: e^x becomes w^(x mod q), w of order
// q, so that e^x e^y = e^(x+y) holds. What an exponential made has no part in Z_q.
//
//   p = 3 mod 4, so exactly one of a and -a is a square, and every square has one root that is itself a
//   square: so sqrt(a b) = sqrt(a) sqrt(b), and sqrt(a a) is a or -a, as with absolute values. What is no
//   square has no root here, and the part is missing; other inputs will have one.
//
//   log, pow, sin, cos, the normal distribution, exponentials of exponentials, and whatever compares (max, min, less, ...)
//   are unknown functions: the same arguments give the same random number. What is equal for every function is equal for
//   these; what differs may still be equal.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "search/values.hpp"

namespace zellige::search {

struct FieldNumber {
  static constexpr std::uint64_t unlucky =
      ~std::uint64_t{0};  // missing here: a root or a quotient that does not exist
  static constexpr std::uint64_t absent =
      unlucky - 1;  // in Z_q of what an exponential made: missing in any field
  std::uint64_t p = unlucky, q = unlucky;
};

class Field {
 public:
  using Number = FieldNumber;

  /// Primes drawn by `seed`: q of 54 bits, p of 55 to 62.
  explicit Field(std::uint64_t seed);

  FieldNumber random(std::uint64_t draw) const;  // an input
  FieldNumber integer(std::int64_t n) const;
  FieldNumber constant(double c);
  FieldNumber add(const FieldNumber&, const FieldNumber&) const;
  FieldNumber sub(const FieldNumber&, const FieldNumber&) const;
  FieldNumber mul(const FieldNumber&, const FieldNumber&) const;
  FieldNumber div(const FieldNumber&, const FieldNumber&) const;
  FieldNumber sqrt(const FieldNumber&);
  FieldNumber exp(const FieldNumber&);
  FieldNumber converted(const FieldNumber& x, const graph::Attributes& a) const {
    return converted_or_refused(x, a);
  }
  FieldNumber neg(const FieldNumber& x) const { return sub(integer(0), x); }
  FieldNumber log(const FieldNumber& x) { return unknown(Unknown::log, x); }
  FieldNumber sin(const FieldNumber& x) { return unknown(Unknown::sin, x); }
  FieldNumber cos(const FieldNumber& x) { return unknown(Unknown::cos, x); }
  FieldNumber normal(const FieldNumber& x) { return unknown(Unknown::normal, x); }
  FieldNumber tanh(const FieldNumber&);  // 1 - 2 / (e^2x + 1)
  FieldNumber abs(const FieldNumber& x) { return sqrt(mul(x, x)); }
  FieldNumber pow(const FieldNumber& x, const FieldNumber& y) { return unknown(Unknown::pow, x, y); }
  FieldNumber max(const FieldNumber& x, const FieldNumber& y) { return unordered(Unknown::max, x, y); }
  FieldNumber min(const FieldNumber& x, const FieldNumber& y) { return neg(max(neg(x), neg(y))); }
  FieldNumber less(const FieldNumber& x, const FieldNumber& y) { return unknown(Unknown::less, x, y); }
  FieldNumber at_most(const FieldNumber& x, const FieldNumber& y) { return unknown(Unknown::at_most, x, y); }
  FieldNumber same(const FieldNumber& x, const FieldNumber& y) { return unordered(Unknown::same, x, y); }
  FieldNumber choose(const FieldNumber& c, const FieldNumber& x, const FieldNumber& y) {
    return unknown(Unknown::choose, c, unknown(Unknown::choose, x, y));
  }

  std::uint64_t p() const { return p_; }
  std::uint64_t q() const { return q_; }
  bool took_root() const { return took_root_; }        // a square root was taken
  bool took_exp() const { return took_exp_; }          // an exponential was taken
  bool took_unknown() const { return took_unknown_; }  // an unknown function was taken

 private:
  enum class Unknown : std::uint8_t { exp, log, sin, cos, normal, pow, max, less, at_most, same, choose };
  FieldNumber unknown(Unknown, const FieldNumber& x);
  FieldNumber unknown(Unknown, const FieldNumber& x, const FieldNumber& y);
  FieldNumber unordered(Unknown, const FieldNumber& x, const FieldNumber& y);  // the same of y and x

  std::uint64_t seed_, p_ = 0, q_ = 0, w_ = 0;
  bool took_root_ = false, took_exp_ = false, took_unknown_ = false;
  std::map<double, FieldNumber> constants_;
};

}  // namespace zellige::search
