// The planner: every pass in order. One value in, one value out; print() shows what each pass decided.
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
  Rejections rejected;  // of other tilings, where tilings were chosen (plan/tile.hpp)
};

/// Whose grids, loops and threads custom operators have: the graph's, those that price least, or some that are stated.
enum class Tiles : std::uint8_t { given, chosen, stated };

/// What may be asked of the passes, for tests and measurements. One way of blocks alone is taken wherever it can be, also where blocks
/// have no second tile.
struct Wishes {
  std::vector<Blocks> blocks = ways_of_blocks;
  Tiles tiles = Tiles::given;
  retile::Tiling tiling{};  // where it is stated
  bool apart = false;       // the graph is one whose custom operators were taken apart (fuse/custom.hpp)
  // Who asks for a price alone, and takes no plan before it has been proved, may leave out the proof of registers, which costs most.
  bool registers_proved = true;
};

/// Throws Error where the graph asks for what the target lacks, and Rejected where the proof rejects the plan.
Plan make_plan(const graph::KernelGraph&, const target::Target&, const Wishes& = {});

std::string print(const KernelPlan&, const Program&);
std::string print(const Plan&);

}  // namespace zellige::plan
