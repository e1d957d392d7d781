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
//   gelu, relu, clamp, log, pow, and exponentials of exponentials are unknown functions: the same argument
//   gives the same random number. What is equal for every function is equal for these; what differs may still
//   be equal.
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
  FieldNumber max(const FieldNumber&, const FieldNumber&) const;  // throws Error: no field has an order
  FieldNumber pow(const FieldNumber&, const FieldNumber&);
  FieldNumber function(graph::OpKind, const graph::Attributes&, const FieldNumber&);

  std::uint64_t p() const { return p_; }
  std::uint64_t q() const { return q_; }
  bool took_root() const { return took_root_; }        // a square root was taken
  bool took_exp() const { return took_exp_; }          // an exponential was taken
  bool took_unknown() const { return took_unknown_; }  // an unknown function was taken

 private:
  FieldNumber unknown_function(std::uint64_t which, std::uint64_t x) const;

  std::uint64_t seed_, p_ = 0, q_ = 0, w_ = 0;
  bool took_root_ = false, took_exp_ = false, took_unknown_ = false;
  std::map<double, FieldNumber> constants_;
};

}  // namespace zellige::search
