// A kernel's parameters, in order: tensor maps of what TMA brings and takes, then pointers to what threads read, and to what
// they write. The signature, the manifest and the host entry follow this one list.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::emit {

struct Parameter {
  int tensor = -1;  // of the program
  bool writes = false;
  int node = -1;  // whose tensor map it is; -1: a pointer
};

std::vector<Parameter> parameters(const plan::KernelPlan&);

}  // namespace zellige::emit
