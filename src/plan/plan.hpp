// The planner: compiles a graph into verified plans of its kernels by running every pass in order.
// docs/explanation/planner.md describes the passes; ir::print() shows what each of them decided.
//
//   Plan plan = make_plan(graph, target);
//   std::cout << ir::print(plan);
#pragma once
#include "kernel/kernel.hpp"
#include "kernel/rejections.hpp"
#include "plan/choose.hpp"
#include "plan/memory.hpp"
#include "retile/tiling.hpp"
#include "selection/select.hpp"

namespace zellige::plan {

/// A compiled graph: what the emitter and the runtime need to know.
struct Plan {
  tile::TilePrograms program;           // with the strides of all tensors
  std::vector<kernel::Kernel> kernels;  // in launch order
  DevicePlacement device;               // offsets of intermediate tensors in the workspace
  std::string target;                   // name of the GPU architecture
  kernel::Rejections rejected;  // plans with other tilings that the verifier rejected (tiling/choose_tilings.hpp)
  bool sketched = false;        // the buffers have no swizzles, and nothing is proved (sketch())
};

/// Returns the program of a plan with the tile programs of its kernels, as the passes left them.
tile::TilePrograms planned(const Plan&);

/// Which tilings (grids, loops and threads) custom operators get; a custom operator is a kernel with an
/// explicit block graph. `given`: those of the graph. `automatic`: those with the least estimated time.
/// `fixed`: those of PlanOptions::tiling.
enum class TilingPolicy : std::uint8_t { given, automatic, fixed };

/// Planner options, for the command line, tests and measurements.
struct PlanOptions {
  /// Permitted assignments of blocks to output tiles, of which the one of least expected time is taken. A single entry
  /// is used wherever it is possible, even if no block gets a second tile.
  std::vector<BlockAssignment> blocks = ways_of_blocks;
  TilingPolicy tiles = TilingPolicy::given;
  retile::Tiling tiling{};  // used only with TilingPolicy::fixed
  // The graph's custom operators were written as kernel-level operators (fuse/custom.hpp).
  bool decomposed = false;
  // False skips the register proof, the most expensive one. For plans whose estimated cost alone is used,
  // or which are proved later.
  bool registers_proved = true;
  tile::SizeList sizes{};  // extents of inputs that are known at launch alone; the graph has the largest ones
};

/// The passes of make_plan(), in order. Each throws Error if the graph needs what the target lacks.
///
/// Returns a plan that has the tile programs of the graph and no kernels yet.
Plan lowered(const graph::KernelGraph&, const target::Target&, const tile::SizeList& = {});

/// A plan whose tensors have strides, and for each of its kernels the tile program and the choice for its matmuls.
struct Selected {
  Plan plan;
  std::vector<selection::Selection> kernels;
};
/// Chooses the instructions of all matmuls, and the layouts of all tensors.
Selected selected(Plan, const target::Target&);

/// Returns the plan with its kernels: buffers, barriers, roles of warps, and places of tensors in device memory. `blocks`:
/// see PlanOptions.
Plan scheduled(Selected, const target::Target&, const std::vector<BlockAssignment>& blocks = ways_of_blocks);

/// Returns the plan if the verifier accepts it; throws Rejected otherwise. `registers_too`: see PlanOptions.
Plan proved(Plan, const target::Target&, bool registers_too = true);

/// Returns a plan of all kernels for its expected time alone: decided as make_plan() does, but without swizzles, proofs and
/// places in device memory. Takes a fifth of the time. Throws Error if
/// the graph needs what the target lacks.
Plan sketch(const graph::KernelGraph&, const target::Target&);

/// Returns a plan of all kernels, proved by the verifier. Throws Error if the graph needs what the target
/// lacks, and Rejected if the verifier rejects the plan, which is a fault of Zellige.
Plan make_plan(const graph::KernelGraph&, const target::Target&, const PlanOptions& = {});

}  // namespace zellige::plan
