// A proof that rejects what a test tells it to: the program that links planted.cpp has its verify_memory in place of the planner's.
//
//   const Planted others([](const Program& p, int call) { return call > 1; });   // every plan but the first
//
// A program without such a value goes by $ZELLIGE_PLANTED: `all`, or the number of one plan.
#pragma once
#include <functional>

#include "plan/program.hpp"

namespace zellige::plan::test {

/// Whether a plan is rejected: what it lowers, and its number among all plans, from 1.
using Reject = std::function<bool(const Program&, int call)>;

class Planted {
 public:
  explicit Planted(Reject);
  ~Planted();
  Planted(const Planted&) = delete;
  /// How many have been rejected so far, and proved.
  int rejected() const;
  int calls() const;
};

}  // namespace zellige::plan::test
