// Counts the bank conflicts of accesses to a tensor in shared memory, and proposes layouts with fewer conflicts.
//
//   const Conflicts c = conflicts(access, layout);
//   if (c.degree > 1) for (const Remedy& r : remedies({access}, layout).all) ...   // the best first
#pragma once
#include <string>
#include <vector>

#include "predict/banks.hpp"
#include "view/access.hpp"

namespace zellige::view {

/// The bank conflicts of one access pattern.
struct Conflicts {
  predict::BankAccess addresses;  // of the instance with the most wavefronts
  predict::Wavefronts worst;      // wavefronts of that instance
  // Number of warp-wide instances; their wavefronts; the same without conflicts.
  long long instances = 0, wavefronts = 0, ideal = 0;
  int degree = 0;  // most wavefronts of a phase; 1: no conflicts
};

/// Returns the bank conflicts of an access pattern in a layout.
Conflicts conflicts(const WarpPattern&, const SharedLayout&);

/// Another layout of the same tensor, with the bank conflicts that remain.
struct Remedy {
  std::string kind;  // "swizzle", "padding" or "swizzle and padding"
  Value layout;
  std::string hardware;  // name of the equal swizzle mode of TMA and WGMMA; empty: none
  // Additional shared memory in bytes.
  long long extra_bytes = 0;
  long long wavefronts = 0, ideal = 0;  // of all accesses together
  int degree = 0;                       // most wavefronts of a phase of any access
};

/// The proposed layouts.
struct Remedies {
  std::vector<Remedy> all;  // the best first; empty if no layout is better than the original
  std::string reason;       // why conflicts remain, if they do
};

/// Returns at most two layouts: the best one with a swizzle, and the best one with padding alone. Both have
/// fewer wavefronts, over all accesses together, than the original layout without its swizzle.
Remedies remedies(const std::vector<WarpPattern>&, const SharedLayout&);

}  // namespace zellige::view
