// A kernel's parameters, in order: tensor maps of TMA loads and stores, then pointers that threads read, then
// pointers that they write. The signature, the manifest and the host entry use this one list.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "emit/names.hpp"
#include "plan/kernel_plan.hpp"

namespace zellige::emit {

struct Parameter {
  int tensor = -1;  // index of the program's
  bool writes = false;
  int node = -1;  // node whose tensor map it is; -1: a pointer
};

std::vector<Parameter> parameters(const plan::KernelPlan&);
/// The parameters of a launch of several programs, none of which has a tensor map: each pointer once.
std::vector<Parameter> parameters(std::span<const plan::KernelPlan>);
/// The declaration of a pointer.
std::string pointer_text(const Parameter&, const plan::Program&, Names&);

}  // namespace zellige::emit
