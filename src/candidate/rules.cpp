#include "candidate/rules.hpp"

namespace zellige::fuse {

constexpr StepsRule table[] = {
    {When::grouped, "contiguous dimensions",
     "all steps are elementwise, dimensions are contiguous in every operand and result, and none of these is part of a "
     "concatenation or stored slice by slice",
     coalesce},
    {When::tiled, "partial tiles",
     "a reduction or matmul runs over an axis that tiles do not divide, and what its operand has beyond the end is not "
     "the identity, such as 0 of a sum",
     mask_partial_tiles},
};

std::span<const StepsRule> steps_rules() { return table; }

Steps rewritten(Steps steps, When when, const Grouped& of) {
  for (const StepsRule& rule : table)
    if (rule.when == when)
      if (std::optional<Steps> made = rule.apply(steps, of)) steps = std::move(*made);
  return steps;
}

}  // namespace zellige::fuse
