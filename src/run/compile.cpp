#include "run/compile.hpp"

#include <utility>

#include "fuse/separate.hpp"
#include "graph/shown.hpp"
#include "run/files.hpp"
#include "run/passes.hpp"
#include "run/plan_cache.hpp"

namespace zellige::run {
namespace {

/// Returns whether `tiling` is a word for the planner's or the graph's tilings, not explicit ones.
bool is_word(std::string_view tiling) { return tiling.empty() || tiling == "given" || tiling == "chosen"; }

/// Returns the options for the tilings in `json`, a manifest or a list of tilings; `source` names it in messages.
plan::PlanOptions replayed(std::string_view json, std::string_view source) {
  return {.tiles = plan::TilingPolicy::fixed,
          .tiling = retile::parse_tiling(json, source),
          .decomposed = retile::is_decomposed(json, source)};
}

}  // namespace

fuse::Optimized fused(graph::KernelGraph g, const target::Target& target, CompileOptions& o,
                      const std::optional<Cache>& cache) {
  if (!o.fuse && o.plan.decomposed)
    fail("{}: expected a tiling of the graph as it is given, found one of its custom operators decomposed", g.name);
  std::optional<retile::Tiling> declared;
  if (o.plan.tiles == plan::TilingPolicy::fixed)
    declared = std::exchange(o.plan.tiling, {}), o.plan.tiles = plan::TilingPolicy::given;
  PlanCache kept(cache, target);
  if (!o.fuse) {
    fuse::Optimized as_given{.graph = fuse::separate(g, target, kept.costs(), declared)};
    kept.keep();
    return as_given;
  }
  const bool automatic = o.plan.tiles == plan::TilingPolicy::automatic;
  const fuse::Custom custom = automatic           ? fuse::Custom::cheaper
                              : o.plan.decomposed ? fuse::Custom::decomposed
                                                  : fuse::Custom::kept;
  fuse::Optimized fused = fuse::optimize(g, target, custom, kept.costs(), o.watch, o.reasons, declared);
  kept.keep();
  o.plan.decomposed = fused.decomposed;
  // The tiles of fused kernel-level operators have been selected with the groups.
  if (automatic && retile::tiling_of(g).empty()) o.plan.tiles = plan::TilingPolicy::given;
  return fused;
}

Compiled compile(graph::KernelGraph g, const target::Target& target, CompileOptions o,
                 const std::optional<Cache>& cache) {
  kernel::Rejections own;
  if (!o.rejected) o.rejected = &own;
  PassState s = run_passes(passes(), {.graph = std::move(g), .target = &target, .options = std::move(o)}, cache);
  return {std::move(s.program), std::move(s.fused), std::move(s.tuned), s.plan_ms};
}

plan::PlanOptions tiling_options(std::string_view tiling, const target::Target& target, std::string_view source) {
  if (!is_word(tiling)) return replayed(tiling, source);
  const bool automatic = tiling == "chosen" || (tiling.empty() && target.costs.measured);
  return {.tiles = automatic ? plan::TilingPolicy::automatic : plan::TilingPolicy::given};
}

plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target& target) {
  if (is_word(tiling)) return tiling_options(tiling, target);
  constexpr std::size_t max_bytes = std::size_t{1} << 26;
  const std::string text = FileReader(tiling).next(max_bytes + 1), name = graph::shown(tiling);
  if (text.size() > max_bytes)
    fail("{}: expected a manifest or its list of tilings, of at most {} bytes, found more", name, max_bytes);
  return replayed(text, name);
}

void declare_constant(graph::KernelGraph& g, const std::vector<std::string>& names) {
  for (const std::string& name : names) g.tensors[g.inputs[input_named(g, name, "--constant names")]].constant = true;
}

}  // namespace zellige::run
