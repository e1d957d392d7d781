// Counts bank conflicts of accesses to a tensor in shared memory, and finds the cheapest layout without them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/banks.hpp"
#include "view/access.hpp"

namespace zellige::view {

struct Conflicts {
  plan::BankAccess addresses;                          // of the worst instance
  plan::Wavefronts worst;                              // its wavefronts
  long long instances = 0, wavefronts = 0, ideal = 0;  // over all instances
  int degree = 0;
};

Conflicts conflicts(const SharedAccess&, const SharedLayout&);

/// Another arrangement of the same tensor.
struct Remedy {
  std::string kind;  // "swizzle", "padding" or "swizzle and padding"
  Value layout;
  std::string hardware;  // the equivalent swizzle mode of TMA and WGMMA, if any
  long long extra_bytes = 0;
  long long wavefronts = 0, ideal = 0;
  int degree = 0;
};

struct Remedies {
  std::vector<Remedy> all;  // the cheapest first; empty if nothing is better than the original layout
  std::string reason;       // why no remedy was found, if conflicts remain
};

/// For all accesses together; each counts as often as it occurs.
Remedies remedies(const std::vector<SharedAccess>&, const SharedLayout&);

}  // namespace zellige::view
