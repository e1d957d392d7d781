// The planner: runs every pass in order; print() shows what each pass decided.
#pragma once
#include "plan/choose.hpp"
#include "plan/kernel_plan.hpp"
#include "plan/memory.hpp"
#include "plan/rejections.hpp"
#include "retile/tiling.hpp"

namespace zellige::plan {

struct Plan {
  Program program;                  // strides of all tensors resolved
  std::vector<KernelPlan> kernels;  // in launch order
  DevicePlacement device;
  std::string target;
  Rejections rejected;  // of other tilings, if tilings were selected (plan/tile.hpp)
};

/// The tilings (grids, loops and threads) of custom operators: the graph's own, those with the least
/// estimated cost, or explicit ones.
enum class Tiles : std::uint8_t { given, automatic, fixed };

/// Planner options, for tests and measurements. If `blocks` has a single entry it is used wherever possible,
/// even if blocks have no second tile.
struct PlanOptions {
  std::vector<Blocks> blocks = ways_of_blocks;
  Tiles tiles = Tiles::given;
  retile::Tiling tiling{};  // with Tiles::fixed
  bool decomposed = false;  // the graph's custom operators were decomposed (fuse/custom.hpp)
  // Set to false to skip the register proof, the most expensive one, if only the estimated cost is used and
  // the plan is proved later.
  bool registers_proved = true;
};

/// Throws Error if the graph needs what the target lacks, and Rejected if the verifier rejects the plan.
Plan make_plan(const graph::KernelGraph&, const target::Target&, const PlanOptions& = {});

std::string print(const KernelPlan&, const Program&);
std::string print(const Plan&);

}  // namespace zellige::plan
