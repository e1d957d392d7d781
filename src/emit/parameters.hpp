// A kernel's parameters, in order: tensor maps of what TMA brings and takes, then pointers to what threads read, and to what
// they write. The signature, the manifest and the host entry follow this one list.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "emit/names.hpp"
#include "plan/kernel_plan.hpp"

namespace zellige::emit {

struct Parameter {
  int tensor = -1;  // of the program
  bool writes = false;
  int node = -1;  // whose tensor map it is; -1: a pointer
};

std::vector<Parameter> parameters(const plan::KernelPlan&);
/// Of a launch of several programs, none of which has a tensor map: each pointer once.
std::vector<Parameter> parameters(std::span<const plan::KernelPlan>);
/// A pointer as it is declared.
std::string pointer_text(const Parameter&, const plan::Program&, Names&);

}  // namespace zellige::emit
