// What a value is made of: the stored values below it, and whether each is read at the value's own coordinates.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Values that a root's evaluation reads: stored or register-resident nodes below it. `identity`: at the root's own
/// coordinates, same shape.
struct Leaf {
  int node;
  bool identity;
};
std::vector<Leaf> leaves(const BlockProgram&, int node, const Shape& domain);

}  // namespace zellige::plan
