// Compares two graphs over random finite fields.
//
//   FieldTrials t = field_trials(A, B, pairing, {.seed = 7});
//   t.agrees                 // in the number of fields that an error probability of at most 2^-40 takes
#pragma once
#include <map>
#include <string>

#include "search/field.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

/// log2 of the largest error probability of the answer "equal".
constexpr double log2_max_chance = -40;

/// A scalar of one graph that is the product, quotient or sum of two others, except for its rounding.
struct Folded {
  double scalar, x, y;
  char op;  // '*', '/', '+'
};

struct FieldOptions {
  std::uint64_t seed = 1;
  int trials = 1;      // minimum
  double steps = 6e6;  // operations of all fields of one kind
  std::vector<Folded> folded;
  bool ties_tried = false;  // points have tested ties, if inputs are compared with one another
};

struct FieldTrials {
  bool agrees = false;
  std::string why_not;     // an element that differs, an operator that is undefined here, ...
  double log2_chance = 0;  // log2 of the largest probability of agreeing by chance
  // false: powers of a random number and unknown functions are assumed to be random numbers
  bool proved = false;
  bool nested = false;      // exponentials of exponentials
  bool ties_clash = false;  // the graphs decide comparisons of equal numbers differently
  bool orders = false;      // comparisons or roots were decided
  int fields = 0;           // number in which the least tried element agreed
};

FieldTrials field_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                         const FieldOptions&);

/// Returns whether a graph compares only inputs, with each other or with scalars that are exact in binary, in
/// at most three comparisons. Then the points of real_trials.hpp include inputs at which two compared numbers
/// are equal.
bool compares_inputs(const graph::KernelGraph&);

/// Returns whether a graph compares numbers or takes maxima.
bool has_order(const graph::KernelGraph&);

}  // namespace zellige::search
