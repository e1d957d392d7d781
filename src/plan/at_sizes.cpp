#include "plan/at_sizes.hpp"

#include "lower/constant_sizes.hpp"

namespace zellige::plan {

Plan at_sizes(Plan plan, std::span<const std::int64_t> values) {
  for (kernel::Kernel& k : plan.kernels) lower::set_sizes(k.program, plan.program, values);
  lower::set_sizes(plan.program, values);
  plan.device = place_tensors(plan.program);
  return plan;
}

}  // namespace zellige::plan
