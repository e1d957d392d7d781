#include "plan/choose.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "plan/agents.hpp"
#include "plan/group.hpp"
#include "plan/memory.hpp"
#include "plan/registers.hpp"
#include "predict/cost_estimate.hpp"
#include "selection/loop_bounds.hpp"
#include "selection/matrix_stores.hpp"
#include "selection/split_k.hpp"
#include "selection/warpgroups.hpp"
#include "target/instructions.hpp"
#include "tile/at_sizes.hpp"

namespace zellige::plan {
namespace {

/// Returns a description, for a note of the plan, of one way to run a kernel without wgmma: how tiles are loaded, when
/// copies start, and whether there is a barrier after the loop.
std::string describe(selection::Loads loads, Copies copies, bool barrier_after_loop) {
  std::string text = copies == Copies::first ? "all copies first" : "copies where memory is least";
  if (loads == selection::Loads::in_place) text += ", tiles read in place where no tensor core reads them";
  if (barrier_after_loop) text += ", a barrier after the loop";
  return text;
}

/// Plans one form of a kernel (way of using shared memory and warps) after another until one fits the shared memory.
class FormChoice {
 public:
  FormChoice(const tile::TilePrograms& program, const target::Target& target, const std::vector<BlockAssignment>& ways,
             Swizzles swizzles)
      : program_(program), target_(target), ways_(ways), swizzles_(swizzles) {}

  /// Tries all forms of the kernel (ways of using shared memory and warps), starting from `selected`.
  /// Returns true as soon as a form fits the shared memory; `plan` is then that form. Returns false if none fits.
  bool fits(const selection::Selection& selected) {
    selection::Selection on_groups = selected;
    const std::string why_not = selection::warpgroups(on_groups, program_, target_);
    if (why_not.empty()) {
      kernel::Kernel grouped;
      selection::Tasks tasks = group(grouped, on_groups, program_, target_, selection::Loads::as_fits);
      if (on_groups.any(&kernel::MatmulChoice::chained, true))
        grouped.loop_bounds = selection::masked_loop_bounds(grouped);
      selection::choose_matrix_stores(grouped, tasks, target_);
      arrange_buffers(grouped, tasks, target_, swizzles_);
      if (on_warpgroups(grouped, tasks)) return true;
    } else if (target::find_tma(target_, kernel::Space::gmem, kernel::Space::smem, 2) && reasons.empty() &&
               std::ranges::any_of(selected.matmuls, [](const auto& m) { return m.second.row != nullptr; })) {
      reasons.push_back("products on warpgroups: " + why_not);
    }
    const bool by_tma_alone =
        target::find_tma(target_, kernel::Space::gmem, kernel::Space::smem, 2) && !target::has_warpgroup_mma(target_);
    if (!by_tma_alone || !selection::product_tiles_by_tma(selected, program_, target_).empty() ||
        !with_producer(selected))
      return in_one_agent(selected);
    kernel::Kernel by_tma = std::move(plan);
    const std::vector<std::string> before = reasons;
    const auto expected = [&](const kernel::Kernel& k) {
      return predict::estimate_cost(program_, {k}, predict::Detail::sketched, target_).us;
    };
    if (in_one_agent(selected) && expected(plan) <= expected(by_tma)) return true;
    plan = std::move(by_tma), reasons = before;
    reasons.push_back(fmt::format("{}: selected", by_producer));
    return true;
  }

  kernel::Kernel plan;               // the form that was tried last
  std::vector<std::string> reasons;  // why the previous forms were not taken
  // The least number of bytes of shared memory that any form tried so far needs.
  std::int64_t minimum = std::numeric_limits<std::int64_t>::max();

 private:
  static constexpr std::string_view by_producer = "tiles of the product by TMA, from a producer";

  /// Returns whether the kernel fits the shared memory in which a producer loads the tiles of the loop's products by TMA, for products by
  /// mma.sync. `plan` is then that kernel.
  bool with_producer(const selection::Selection& selected) {
    kernel::Kernel grouped;
    const selection::Tasks tasks = group(grouped, selected, program_, target_, selection::Loads::by_producer);
    arrange_buffers(grouped, tasks, target_, swizzles_);
    const selection::PhasedTasks phases = pipeline(grouped, tasks, target_, Copies::first);
    return phases.inside.size() == 1 && fits(grouped, tasks, phases, std::string(by_producer));
  }

  /// Tries the ways of assigning output tiles to blocks. Returns true and sets `plan` to the one of least expected time
  /// that fits the shared memory; returns false if none does.
  bool on_warpgroups(const kernel::Kernel& grouped, const selection::Tasks& tasks) {
    std::optional<kernel::Kernel> best;
    double lowest_us = 0;
    std::string selected;
    for (const BlockAssignment& way : ways_) {
      const Blocks blocks = way.blocks;
      const bool sized = has_sizes(grouped.program), divides = blocks == Blocks::split_k;
      if (sized && ways_.size() > 1 && blocks != Blocks::a_tile && (!divides || grouped.program.has_sized_loop()))
        continue;
      if (ways_.size() > 1 && !in_question(way, grouped.program.grid.count(), best.has_value())) continue;
      kernel::Kernel ordered = grouped;
      if (sized && divides) tile::take_all_tiles(ordered.program);  // all blocks are resident at the same time
      selection::Tasks all = tasks;
      if (blocks == Blocks::pairs && !selection::share_by_pairs(ordered, all, target_)) continue;
      if (blocks == Blocks::split_k) {
        if (!selection::split_k(ordered, all, way.cluster)) continue;
        arrange_parts(ordered, all, target_);
      }
      const selection::PhasedTasks phases = pipeline(ordered, all, target_, Copies::first, blocks);
      if (phases.inside.size() > 1) {
        reasons.push_back("products on warpgroups: what lies between them goes through shared memory");
        break;
      }
      if (blocks == Blocks::persistent && store_starves_ring(ordered)) {
        reasons.push_back("products on warpgroups, blocks that stay: what they store leaves no room for a ring");
        continue;
      }
      const std::string what =
          fmt::format("products on warpgroups, tiles by TMA{}{}", blocks == Blocks::a_tile ? "" : ", persistent blocks",
                      blocks == Blocks::pairs     ? " in pairs"
                      : blocks == Blocks::split_k ? fmt::format(" that divide K by {}", way.cluster)
                                                  : "");
      const std::vector<std::string> before = reasons;
      if (!fits(ordered, all, phases, what)) {
        if (best) reasons = before;
        continue;
      }
      if (best && blocks == Blocks::a_tile && grouped.program.grid.count() > target_.multiprocessors &&
          !two_on_a_multiprocessor())
        continue;
      const double us = predict::estimate_cost(program_, {plan}, predict::Detail::sketched, target_).us;
      if (!best || us < lowest_us) best = plan, lowest_us = us, selected = what;
    }
    if (!best) return false;
    plan = std::move(*best);
    if (!reasons.empty()) reasons.push_back(fmt::format("{}: selected", selected));
    return true;
  }

  /// Returns whether the number of tiles or of iterations is known at launch only: each block takes one tile then, or a part of one.
  static bool has_sizes(const tile::TileProgram& p) {
    return std::ranges::any_of(p.nodes, [&](const tile::Node& n) {
      for (int d = 0; d < n.view.rank(); ++d)
        if (n.view.along(d, p).size() >= 0 && !n.view.fixed(d)) return true;
      return false;
    });
  }

  /// Returns whether a way of assigning `tiles` output tiles to blocks is tried. Blocks divide K only if all of them are
  /// resident at the same time. Blocks stay only if there are more tiles than multiprocessors. One block per tile is then
  /// an alternative while there are at most two tiles per multiprocessor (and two blocks fit on one, which
  /// on_warpgroups() asks), or where none of the other ways fits.
  bool in_question(const BlockAssignment& way, std::int64_t tiles, bool another_fits) const {
    const std::int64_t all = target_.multiprocessors;
    if (way.blocks == Blocks::split_k) return tiles <= target_.clusters(way.cluster);
    if (way.blocks == Blocks::persistent) return tiles > all;
    if (way.blocks == Blocks::a_tile) return tiles <= 2 * all || !another_fits;
    return true;
  }

  /// Returns whether two blocks of `plan` fit on a multiprocessor.
  bool two_on_a_multiprocessor() const {
    return 2 * (plan.shared_bytes + target_.shared_reserved_per_block) <= target_.shared_per_multiprocessor;
  }

  /// Returns whether persistent blocks are slower than one block per output tile, because too little memory is left
  /// for the ring. A persistent block needs memory for the ring and for the tile that it stores; a block of a single
  /// tile reuses the ring's memory to store it. Persistent blocks are slower if the ring has fewer than three stages
  /// and there are at most two tiles per multiprocessor.
  bool store_starves_ring(const kernel::Kernel& ordered) const {
    return ways_.size() > 1 && ordered.stages() < 3 && ordered.program.grid.count() <= 2 * target_.multiprocessors;
  }

  /// Tries the forms of the kernel (ways of using shared memory and warps) without wgmma, in which all warps run the
  /// same code. Returns true and sets `plan` to the first that fits the shared memory; returns false if none does.
  bool in_one_agent(const selection::Selection& selected) {
    for (selection::Loads loads : {selection::Loads::as_fits, selection::Loads::in_place}) {
      kernel::Kernel grouped;
      const selection::Tasks tasks = group(grouped, selected, program_, target_, loads);
      grouped.loop_bounds = selection::masked_loop_bounds(grouped);
      if (grouped.loop_bounds && !grouped.loop_bounds->reads()) grouped.loop_bounds.reset();
      arrange_buffers(grouped, tasks, target_, swizzles_);
      for (Copies copies : {Copies::first, Copies::last}) {
        kernel::Kernel ordered = grouped;
        const selection::PhasedTasks phases = pipeline(ordered, tasks, target_, copies);
        if (takes(ordered, tasks, phases, describe(loads, copies, false))) return true;
        // With one more barrier the phases after the loop may reuse the loop's buffers.
        if (loop_barriers(ordered, tasks, phases).after || ordered.program.loop == 1 || phases.after.empty()) continue;
        if (takes(ordered, tasks, phases, describe(loads, copies, true), true)) return true;
      }
    }
    return false;
  }

  /// Returns whether a form of the kernel fits the shared memory, as fits() does, and notes that it is selected.
  bool takes(const kernel::Kernel& ordered, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
             const std::string& what, bool barrier_after_loop = false) {
    if (!fits(ordered, tasks, phases, what, barrier_after_loop)) return false;
    if (!reasons.empty()) reasons.push_back(fmt::format("{}: selected", what));
    return true;
  }

  /// Completes one form of the kernel (way of using shared memory and warps) in the member `plan`, starting from the
  /// plan `ordered` whose `tasks` are in these phases. Returns whether it fits the shared memory, if need be with fewer
  /// stages of a TMA producer's ring. If it does not, or if earlier forms did not, adds a note about it to `reasons`.
  /// `what` describes the form in this note.
  bool fits(kernel::Kernel ordered, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
            const std::string& what, bool barrier_after_loop = false) {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    do {
      plan = ordered;
      selection::PhasedTasks sliced = phases;
      slice_fragments(plan, tasks, sliced);
      build_agents(plan, tasks, sliced, target_, barrier_after_loop);
      plan.registers = registers_of_thread(plan, tasks, target_);
      if (place_buffers(plan, target_)) return true;
      smallest = std::min(smallest, plan.shared_bytes);
    } while (shorten_ring(ordered, tasks, phases, plan.shared_bytes - target_.shared_per_block));
    reasons.push_back(fmt::format("{}: {} bytes of shared memory, {} has {}", what, smallest, target_.name,
                                  target_.shared_per_block));
    minimum = std::min(minimum, smallest);
    return false;
  }

  const tile::TilePrograms& program_;
  const target::Target& target_;
  const std::vector<BlockAssignment>& ways_;
  Swizzles swizzles_;
};

}  // namespace

kernel::Kernel choose(selection::Selection selected, const tile::TilePrograms& program, const target::Target& target,
                      const std::vector<BlockAssignment>& ways, Swizzles swizzles) {
  FormChoice choice(program, target, ways, swizzles);
  while (!choice.fits(selected)) {
    if (!tile::unshare(selected.program))
      does_not_fit(
          "{}: its tiles need {} bytes of shared memory, {} has {} for a block; smaller tiles or a longer "
          "loop would fit",
          selected.program.name, choice.minimum, target.name, target.shared_per_block);
    choice.reasons.push_back("the largest value that was stored to be shared is evaluated where it is read");
  }
  choice.plan.notes.insert(choice.plan.notes.end(), choice.reasons.begin(), choice.reasons.end());
  return std::move(choice.plan);
}

}  // namespace zellige::plan
