// Two graphs over random finite fields.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct FieldTrials {
  std::string refused;  // no field allows it: why
  std::optional<Counterexample> difference;
  int fields = 0;                                             // that agreed, for the least tried element
  bool roots = false, unknown = false, exponentials = false;  // what was taken on the way
  double log2_chance = 0;

  /// Is a difference here one over the reals? Not if a root could have another sign or a function have laws
  /// of its own.
  bool differs_for_sure() const { return difference && !roots && !unknown; }
};

FieldTrials field_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                         const EqualOptions&);

}  // namespace zellige::search
