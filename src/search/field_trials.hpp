// Two graphs over random finite fields.
//
//   FieldTrials t = field_trials(A, B, pairing, {.seed = 7});
//   t.agrees                 // as often as it takes for a chance of error of at most 2^-40
#pragma once
#include <map>
#include <string>

#include "search/field.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

/// Equal is said with a chance of error of at most this.
constexpr double log2_most_chance = -40;

/// A scalar of one graph that is the product, quotient or sum of two others, but for its rounding.
struct Folded {
  double scalar, x, y;
  char op;  // '*', '/', '+'
};

struct FieldOptions {
  std::uint64_t seed = 1;
  int trials = 1;      // at least
  double steps = 6e6;  // operations of all fields of one kind
  std::vector<Folded> folded;
  bool ties_tried =
      false;  // points have shown what becomes of equals, where inputs are compared with one another
};

struct FieldTrials {
  bool agrees = false;
  std::string why_not;     // an element that differs, an operator that has no meaning, ...
  double log2_chance = 0;  // of agreeing by luck, at most
  bool proved = false;  // else powers of a random number, and unknown functions, are taken for random numbers
  bool nested = false;  // exponentials of exponentials
  bool ties_clash = false;  // the two take equals for different sides of a comparison
  bool orders = false;      // comparisons or roots took sides
  int fields = 0;           // in which the least tried element agreed
};

FieldTrials field_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                         const FieldOptions&);

/// Does a graph compare only inputs, with each other or with scalars that are exact in binary, in at most three comparisons? Then the points
/// of real_trials.hpp include the inputs at which two compared numbers are equal.
bool compares_inputs(const graph::KernelGraph&);

/// Does a graph compare numbers, or take the greatest?
bool has_order(const graph::KernelGraph&);

}  // namespace zellige::search
