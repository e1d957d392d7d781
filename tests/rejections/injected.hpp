// A verifier that rejects the plans that a test selects: a program that links injected.cpp has its
// verify_memory in place of the planner's.
//
//   const InjectedRejection others([](const TilePrograms& p, int call) { return call > 1; });   // every plan but the first
//
// Without such a value a program uses $ZELLIGE_INJECTED: `all`, or the number of one plan.
#pragma once
#include <functional>

#include "tile/program.hpp"

namespace zellige::verify::test {

/// True if a plan is rejected: its lowered program, and its number among all plans, from 1.
using Reject = std::function<bool(const tile::TilePrograms&, int call)>;

class InjectedRejection {
 public:
  explicit InjectedRejection(Reject);
  ~InjectedRejection();
  InjectedRejection(const InjectedRejection&) = delete;
  /// The number of plans rejected so far, and verified.
  int rejected() const;
  int calls() const;
};

}  // namespace zellige::verify::test
