#include "fuse/custom.hpp"

#include <optional>

#include "candidate/expected_time.hpp"
#include "fuse/choose.hpp"
#include "fuse/levels.hpp"
#include "rewrite/roundings.hpp"
#include "tiling/tile.hpp"

namespace zellige::fuse {
namespace {

/// One variant of the fused graph, or why it is not available.
struct Way {
  std::optional<Optimized> taken;
  Refusal not_taken{};
  plan::Rejections rejected{};  // by the verifier, if the variant is not available
};

/// Returns the variant that `make` makes. If the verifier rejects its plan, returns the verifier's message instead.
template <class Make>
Way attempt(Make make) {
  try {
    return make();
  } catch (const Rejected& e) {
    return {{}, {e.what(), true}};
  }
}

/// Returns the variant of the fused graph in which custom operators were decomposed first, or the reason why
/// it is not available, for example that it would round a tensor which the graph does not round.
Way decomposed_way(const KernelGraph& g, const target::Target& target, CostCache& known, const Watch& watch,
                   Reasons reasons) {
  try {
    KernelGraph decomposed = g;
    if (!apply(Level::custom, decomposed, watch, known))
      return {{}, {"they are not proved to be unfused operators in blocks"}};
    Optimized o = optimize(decomposed, target, known, watch, reasons);
    if (const auto name = added_rounding(g, decomposed, o.graph))
      return {{}, {fmt::format("{} would be rounded", *name)}, std::move(o.rejected)};
    o.decomposed = true;
    return {std::move(o)};
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    return {{}, {e.what()}};
  }
}

/// Expected time and number of kernels of a graph, and the plans that the verifier rejected.
struct Cost {
  double us = 0;
  std::size_t kernels = 0;
  plan::Rejections rejected{};
};

/// Returns the expected time and the number of kernels of a graph with the tiles that the planner chooses.
Cost cost(const KernelGraph& g, const target::Target& target) {
  const plan::Tiled t = plan::tile(g, target, {.tiles = plan::Tiles::automatic, .registers_proved = false});
  return {t.cost.us, t.plan.kernels.size(), t.plan.rejected};
}

/// Returns whether the decomposed variant should be taken: its expected time is clearly less than that of the
/// kept one. If it has more kernels, one launch time per additional kernel is added to its time, because the
/// cost model knows little of what happens between kernels. A decomposed variant that is a single kernel only
/// needs to be not clearly slower: on an H200 such kernels were faster (docs/explanation/retiling.md).
bool less(const Cost& decomposed, const Cost& kept, const target::Target& target) {
  const double more = decomposed.kernels > kept.kernels ? static_cast<double>(decomposed.kernels - kept.kernels) : 0;
  const double tie = target.costs.search.tie, minimum = decomposed.kernels == 1 ? 1 + tie : 1 - tie;
  return decomposed.us + more * target.costs.launch < minimum * kept.us;
}

/// Returns `way`, the only available variant, with a note that says why the variant `other` is not available.
/// `what` says what `way` does with custom operators: "kept" or "decomposed".
Optimized instead(Way way, std::string_view what, const Way& other) {
  plan::add(way.taken->rejected, other.rejected);
  if (other.not_taken.rejected) plan::drop(Rejected(other.not_taken.why), way.taken->rejected);
  way.taken->notes.push_back(fmt::format("custom operators are {}: {}", what, other.not_taken.why));
  return std::move(*way.taken);
}

}  // namespace

Optimized optimize(const KernelGraph& g, const target::Target& target, Custom custom) {
  CostCache known;
  return optimize(g, target, custom, known);
}

Optimized optimize(const KernelGraph& g, const target::Target& target, Custom custom, CostCache& known,
                   const Watch& asked, Reasons reasons) {
  const Watch watch = until_ended(asked);
  const bool none = retile::tiling_of(g).empty();
  if (custom == Custom::kept || (custom == Custom::cheaper && none)) return optimize(g, target, known, watch, reasons);
  Way decomposed = attempt([&] { return decomposed_way(g, target, known, watch, reasons); });
  if (custom == Custom::decomposed) {
    if (!decomposed.taken && decomposed.not_taken.rejected) raise(decomposed.not_taken);
    if (!decomposed.taken)
      fail("{}: expected custom operators that can be decomposed; {}", g.name, decomposed.not_taken.why);
    return std::move(*decomposed.taken);
  }
  Way kept = attempt([&] { return Way{optimize(g, target, known, watch, reasons)}; });
  if (!kept.taken && !decomposed.taken) raise(kept.not_taken);
  if (!kept.taken) return instead(std::move(decomposed), "decomposed", kept);
  if (!decomposed.taken) return instead(std::move(kept), "kept", decomposed);
  const auto words = [](const Cost& c) {
    return fmt::format("{:.1f} us in {} kernel{}", c.us, c.kernels, c.kernels == 1 ? "" : "s");
  };
  const Cost whole = cost(kept.taken->graph, target), parts = cost(decomposed.taken->graph, target);
  const bool is_less = less(parts, whole, target);
  plan::Rejections rejected = kept.taken->rejected;
  for (const plan::Rejections& of : {decomposed.taken->rejected, whole.rejected, parts.rejected})
    plan::add(rejected, of);
  Optimized& taken = is_less ? *decomposed.taken : *kept.taken;
  taken.rejected = std::move(rejected);
  taken.notes.push_back(
      is_less ? fmt::format("custom operators are decomposed: {}, and {} kept", words(parts), words(whole))
              : fmt::format("custom operators are kept: {}, and {} decomposed", words(whole), words(parts)));
  return std::move(taken);
}

}  // namespace zellige::fuse
