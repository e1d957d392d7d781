// Compares two graphs in random finite fields (field.hpp): if all outputs are equal in enough fields, the
// graphs are equal with a bounded probability of error.
//
//   FieldTrials t = field_trials({A, B, match(A, B)}, {.seed = 7});
//   t.agrees         // true: equal in enough fields for an error probability of at most 2^-40
#pragma once
#include <string>

#include "number/field.hpp"
#include "search/match.hpp"

namespace zellige::search {

/// log2 of the error probability that the answer "equal" may have at most.
constexpr double log2_max_chance = -40;

/// A scalar of one graph that is the product, quotient or sum of two others, except for its rounding.
struct Folded {
  double scalar, x, y;
  char op;  // '*', '/', '+'
};

/// Options of a comparison in finite fields.
struct FieldOptions {
  std::uint64_t seed = 1;
  int trials = 1;      // minimum number of fields
  double steps = 6e6;  // limit of operations in all fields of one kind
  std::vector<Folded> folded;
};

/// The result of a comparison in finite fields.
struct FieldTrials {
  bool agrees = false;
  std::string why_not;     // the first element that differs, an operator without meaning, ...
  double log2_chance = 0;  // log2 of the largest probability of agreeing by chance
  // Whether log2_chance is proved. Else exponentials and unknown functions are assumed to be like random numbers.
  bool proved = false;
  bool nested = false;    // an exponential of an exponential's result occurred
  bool compared = false;  // a comparison was decided, whose outcome for equal numbers is not that of any others
  bool differs = false;   // in each kind of field, an element has other values in the two graphs
  int fields = 0;         // number of fields in which every element agreed
};

/// Compares the graphs in fields with each Field::Order that they need, until the fields of one order show
/// equality. Returns the result of that order, or a result without agreement that says why not.
FieldTrials field_trials(const GraphPair&, const FieldOptions&);

/// Returns whether a graph compares numbers or takes maxima.
bool has_order(const KernelGraph&);

}  // namespace zellige::search
