#include "plan/choose.hpp"

#include <limits>

#include "plan/agents.hpp"
#include "plan/group.hpp"
#include "plan/memory.hpp"
#include "plan/share.hpp"
#include "plan/slice.hpp"
#include "plan/swizzle.hpp"

namespace zellige::plan {
namespace {

struct Candidate {
  Loads loads;
  Copies copies;
  bool barrier_behind_loop;  // one more, so that what follows the loop may reuse the loop's buffers
};
constexpr Candidate candidates[] = {
    {Loads::as_fits, Copies::first, false},  {Loads::as_fits, Copies::first, true},
    {Loads::as_fits, Copies::late, false},   {Loads::as_fits, Copies::late, true},
    {Loads::in_place, Copies::first, false}, {Loads::in_place, Copies::first, true},
    {Loads::in_place, Copies::late, false},  {Loads::in_place, Copies::late, true},
};

std::string said(const Candidate& c) {
  std::string text = c.copies == Copies::first ? "all copies first" : "copies where memory is least";
  if (c.loads == Loads::in_place) text += ", tiles read in place where no tensor core reads them";
  if (c.barrier_behind_loop) text += ", a barrier behind the loop";
  return text;
}

/// `selected` through the passes behind selection; false where the candidate is another's twin.
bool plan_with(const Candidate& c, KernelPlan& plan, const Program& program, const target::Target& target) {
  group(plan, program, target, c.loads);
  arrange_buffers(plan, target);
  Order order = pipeline(plan, target, c.copies);
  if (c.barrier_behind_loop) {
    if (order.after_barrier || plan.program.loop == 1 || order.after.empty()) return false;
    order.after_barrier = true;
  }
  slice_fragments(plan, order);
  plan.schedule = build_schedule(plan, order);
  return true;
}

}  // namespace

void choose(KernelPlan& plan, const Program& program, const target::Target& target) {
  KernelPlan selected = plan;
  std::vector<std::string> reasons;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  do {
    for (const Candidate& c : candidates) {
      plan = selected;
      if (!plan_with(c, plan, program, target)) continue;
      if (place_buffers(plan, target)) {
        if (!reasons.empty()) reasons.push_back(said(c) + ": chosen");
        plan.notes.insert(plan.notes.end(), reasons.begin(), reasons.end());
        return;
      }
      reasons.push_back(fmt::format("{}: {} bytes of shared memory, {} has {}", said(c), plan.shared_bytes,
                                    target.name, target.shared_per_block));
      least = std::min(least, plan.shared_bytes);
    }
    reasons.push_back("the largest value that was stored to be shared is evaluated where it is read");
  } while (unshare(selected.program));
  fail(
      "{}: its tiles need {} bytes of shared memory, {} has {} for a block; smaller tiles or a longer loop "
      "would fit",
      plan.program.name, least, target.name, target.shared_per_block);
}

}  // namespace zellige::plan
