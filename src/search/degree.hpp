// How high the degrees of numerator and denominator of each value may be, as rational functions of the
// inputs, of the roots, of the exponentials and of the unknown functions: what the chance of a field's being
// fooled is made of.
#pragma once
#include <algorithm>

#include "search/values.hpp"

namespace zellige::search {

struct Degree {
  double numerator = 0, denominator = 0;
};

class DegreeArithmetic {
 public:
  using Number = Degree;

  Degree integer(std::int64_t) const { return {}; }
  Degree constant(double) const { return {}; }
  Degree add(const Degree& x, const Degree& y) const {
    if (x.denominator == 0 && y.denominator == 0) return {std::max(x.numerator, y.numerator), 0};
    return {std::max(x.numerator + y.denominator, y.numerator + x.denominator),
            x.denominator + y.denominator};
  }
  Degree sub(const Degree& x, const Degree& y) const { return add(x, y); }
  Degree mul(const Degree& x, const Degree& y) const {
    return {x.numerator + y.numerator, x.denominator + y.denominator};
  }
  Degree div(const Degree& x, const Degree& y) const {
    return {x.numerator + y.denominator, x.denominator + y.numerator};
  }
  Degree converted(const Degree& x, const graph::Attributes&) const { return x; }
  Degree neg(const Degree& x) const { return x; }
  Degree sqrt(const Degree& x) { return variable(x); }
  Degree exp(const Degree& x) { return variable(x); }
  Degree log(const Degree& x) { return variable(x); }
  Degree sin(const Degree& x) { return variable(x); }
  Degree cos(const Degree& x) { return variable(x); }
  Degree tanh(const Degree& x) { return div(variable(x), variable(x)); }  // by its exponential
  Degree abs(const Degree& x) { return variable(mul(x, x)); }             // a root
  Degree normal(const Degree& x) { return variable(x); }
  Degree max(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree min(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree pow(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree less(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree at_most(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree same(const Degree& x, const Degree& y) { return variable(add(x, y)); }
  Degree choose(const Degree& c, const Degree& x, const Degree& y) { return variable(add(c, add(x, y))); }

  /// Of the arguments of functions, two of which may fall together.
  double argument() const { return argument_; }

 private:
  Degree variable(const Degree& x) {
    argument_ = std::max(argument_, x.numerator + x.denominator);
    return {1, 0};
  }
  double argument_ = 0;
};

}  // namespace zellige::search
