// The planner: every pass in order. One value in, one value out; print() shows what each pass decided.
#pragma once
#include "plan/kernel_plan.hpp"
#include "plan/memory.hpp"

namespace zellige::plan {

struct Plan {
  Program program;                  // strides of all tensors resolved
  std::vector<KernelPlan> kernels;  // in launch order
  DevicePlacement device;
  std::string target;
};

/// Throws Error where the graph asks for what the target lacks, or where the verifier refuses a plan.
Plan make_plan(const graph::KernelGraph&, const target::Target&);

std::string print(const KernelPlan&, const Program&);
std::string print(const Plan&);

}  // namespace zellige::plan
