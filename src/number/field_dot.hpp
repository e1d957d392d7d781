// Dot products over a random finite field (field.hpp).
#pragma once
#include "number/field.hpp"

namespace zellige::number {

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
