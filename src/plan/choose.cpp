#include "plan/choose.hpp"

#include <algorithm>
#include <limits>

#include "kernel/tensor_map.hpp"
#include "lower/product_tiles.hpp"
#include "plan/agents.hpp"
#include "plan/group.hpp"
#include "plan/memory.hpp"
#include "plan/registers.hpp"
#include "plan/slice.hpp"
#include "select/loop_bounds.hpp"
#include "select/split_k.hpp"
#include "select/warpgroups.hpp"
#include "target/instructions.hpp"
#include "tile/rules.hpp"

namespace zellige::plan {
namespace {

/// Returns a description, for a note of the plan, of one way to run a kernel without wgmma: how tiles are loaded, when
/// copies start, and whether there is a barrier after the loop.
std::string describe(Loads loads, Copies copies, bool barrier_after_loop) {
  std::string text = copies == Copies::first ? "all copies first" : "copies where memory is least";
  if (loads == Loads::in_place) text += ", tiles read in place where no tensor core reads them";
  if (barrier_after_loop) text += ", a barrier after the loop";
  return text;
}

/// Plans one form of a kernel (way of using shared memory and warps) after another until one fits the shared memory.
class Choice {
 public:
  Choice(const Program& program, const target::Target& target, const std::vector<Blocks>& ways, Swizzles swizzles)
      : program_(program), target_(target), ways_(ways), swizzles_(swizzles) {}

  /// Tries all forms of the kernel (ways of using shared memory and warps), starting from `selected`.
  /// Returns true as soon as a form fits the shared memory; `plan` is then that form. Returns false if none fits.
  bool fits(const Selection& selected) {
    Selection on_groups = selected;
    const std::string why_not = warpgroups(on_groups, program_, target_);
    if (why_not.empty()) {
      Kernel grouped;
      const Tasks tasks = group(grouped, on_groups, program_, target_, Loads::as_fits);
      if (on_groups.any(&MatmulChoice::chained, true)) grouped.loop_bounds = masked_loop_bounds(grouped);
      arrange_buffers(grouped, tasks, target_, swizzles_);
      if (two_at_a_time(grouped, tasks)) return true;
      for (Blocks blocks : ways_) {
        const bool tiles_for_all = grouped.program.grid.count() > target_.multiprocessors;
        if (!tiles_for_all && !pays(blocks, on_groups)) continue;
        Kernel ordered = grouped;
        Tasks all = tasks;
        if (blocks == Blocks::pairs && !share_by_pairs(ordered, all, target_)) continue;
        if (blocks == Blocks::split_k && !split_k(ordered, all, target_)) continue;
        const OrderedTasks phases = pipeline(ordered, all, target_, Copies::first, blocks);
        if (phases.inside.size() > 1) {
          reasons.push_back("products on warpgroups: what lies between them goes through shared memory");
          break;
        }
        if (tiles_for_all && blocks == Blocks::persistent && store_starves_ring(ordered)) {
          reasons.push_back("products on warpgroups, blocks that stay: what they store leaves no room for a ring");
          continue;
        }
        if (fits(ordered, all, phases,
                 fmt::format("products on warpgroups, tiles by TMA{}{}",
                             blocks == Blocks::a_tile ? "" : ", persistent blocks",
                             blocks == Blocks::pairs     ? " in pairs"
                             : blocks == Blocks::split_k ? " in pairs with half of K each"
                                                         : "")))
          return true;
      }
    } else if (target::find_tma(target_, Space::gmem, Space::smem, 2) && reasons.empty() &&
               std::ranges::any_of(selected.matmuls, [](const auto& m) { return m.second.row != nullptr; })) {
      reasons.push_back("products on warpgroups: " + why_not);
    }
    return in_one_agent(selected);
  }

  Kernel plan;                       // the form that was tried last
  std::vector<std::string> reasons;  // why the previous forms were not taken
  // The least number of bytes of shared memory that any form tried so far needs.
  std::int64_t minimum = std::numeric_limits<std::int64_t>::max();

 private:
  /// Returns whether persistent blocks are slower than one block per output tile, because too little memory is left
  /// for the ring. A persistent block needs memory for the ring and for the tile that it stores; a block of a single
  /// tile reuses the ring's memory to store it. Persistent blocks are slower if the ring has fewer than three stages
  /// and there are at most two tiles per multiprocessor.
  bool store_starves_ring(const Kernel& ordered) const {
    return ways_.size() > 1 && ordered.stages() < 3 && ordered.program.grid.count() <= 2 * target_.multiprocessors;
  }

  /// Tries one block per output tile, with two blocks resident on a multiprocessor. Returns true and sets `plan` if
  /// there are more than one and at most two tiles per multiprocessor, and two blocks fit on one.
  bool two_at_a_time(const Kernel& grouped, const Tasks& tasks) {
    const std::int64_t tiles = grouped.program.grid.count(), all = target_.multiprocessors;
    if (ways_.size() == 1 || tiles <= all || tiles > 2 * all) return false;
    Kernel ordered = grouped;
    const OrderedTasks phases = pipeline(ordered, tasks, target_, Copies::first, Blocks::a_tile);
    if (phases.inside.size() > 1) return false;
    const std::vector<std::string> before = reasons;
    if (fits(ordered, tasks, phases, "products on warpgroups, tiles by TMA, two blocks on a multiprocessor") &&
        2 * (plan.shared_bytes + target_.shared_reserved_per_block) <= target_.shared_per_multiprocessor)
      return true;
    reasons = before;
    return false;
  }

  /// Returns whether `blocks`, a way of assigning output tiles to blocks, is tried for a grid of at most one tile per
  /// multiprocessor:
  ///
  /// - a_tile (one block per tile) and split_k (two blocks per tile) are always tried, persistent never;
  /// - pairs (clusters of two blocks with adjacent tiles) are tried if the loop is long and one of two conditions
  ///   holds: pairs_pay() is true for the tile shape, or the rows of an operand are not multiples of 128 bytes.
  ///
  /// Any way is tried if it is the only one in `ways_`, since the caller has then requested it.
  bool pays(Blocks blocks, const Selection& selected) const {
    if (ways_.size() == 1 || blocks == Blocks::a_tile || blocks == Blocks::split_k) return true;
    const TileProgram& p = selected.program;
    if (blocks != Blocks::pairs || p.loop < min_iterations_of_pairs) return false;
    for (const auto& [node, m] : selected.matmuls) {
      if (m.proxy() != target::Proxy::async) continue;
      bool straddles = false;
      for (int load : p.nodes[node].in) {
        if (p.nodes[load].kind != NodeKind::load) continue;  // computed: has no rows in memory
        const graph::KernelTensor& t = program_.tensors[p.nodes[load].tensor];
        for (std::int64_t stride : t.strides)
          straddles = straddles || (stride > 1 && graph::bytes_of(stride, t.dtype) % span_bytes != 0);
      }
      if (straddles || pairs_pay(m.m, m.n, p.loop)) return true;
    }
    return false;
  }

  /// Tries the forms of the kernel (ways of using shared memory and warps) without wgmma, in which all warps run the
  /// same code. Returns true and sets `plan` to the first that fits the shared memory; returns false if none does.
  bool in_one_agent(const Selection& selected) {
    for (Loads loads : {Loads::as_fits, Loads::in_place}) {
      Kernel grouped;
      const Tasks tasks = group(grouped, selected, program_, target_, loads);
      arrange_buffers(grouped, tasks, target_, swizzles_);
      for (Copies copies : {Copies::first, Copies::last}) {
        Kernel ordered = grouped;
        const OrderedTasks phases = pipeline(ordered, tasks, target_, copies);
        if (fits(ordered, tasks, phases, describe(loads, copies, false))) return true;
        // With one more barrier the phases after the loop may reuse the loop's buffers.
        if (loop_barriers(ordered, tasks, phases).after || ordered.program.loop == 1 || phases.after.empty()) continue;
        if (fits(ordered, tasks, phases, describe(loads, copies, true), true)) return true;
      }
    }
    return false;
  }

  /// Completes one form of the kernel (way of using shared memory and warps) in the member `plan`, starting from the
  /// plan `ordered` whose `tasks` are in these phases. Returns whether it fits the shared memory, if need be with fewer
  /// stages of a TMA producer's ring. If it does not, or if earlier forms did not, adds a note about it to `reasons`.
  /// `what` describes the form in this note.
  bool fits(Kernel ordered, const Tasks& tasks, const OrderedTasks& phases, const std::string& what,
            bool barrier_after_loop = false) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    do {
      plan = ordered;
      OrderedTasks sliced = phases;
      slice_fragments(plan, tasks, sliced);
      build_agents(plan, tasks, sliced, target_, barrier_after_loop);
      plan.registers = registers_of_thread(plan, tasks, target_);
      if (place_buffers(plan, target_)) {
        if (!reasons.empty()) reasons.push_back(what + ": selected");
        return true;
      }
      least = std::min(least, plan.shared_bytes);
    } while (shorten_ring(ordered, tasks, phases, plan.shared_bytes - target_.shared_per_block));
    reasons.push_back(
        fmt::format("{}: {} bytes of shared memory, {} has {}", what, least, target_.name, target_.shared_per_block));
    minimum = std::min(minimum, least);
    return false;
  }

  const Program& program_;
  const target::Target& target_;
  const std::vector<Blocks>& ways_;
  Swizzles swizzles_;
};

}  // namespace

Kernel choose(Selection selected, const Program& program, const target::Target& target, const std::vector<Blocks>& ways,
              Swizzles swizzles) {
  Choice choice(program, target, ways, swizzles);
  while (!choice.fits(selected)) {
    if (!unshare(selected.program))
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
