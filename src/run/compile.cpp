#include "run/compile.hpp"

#include "graph/shown.hpp"
#include "run/driver.hpp"
#include "run/files.hpp"
#include "run/gpu.hpp"
#include "run/plan_cache.hpp"

namespace zellige::run {
namespace {

/// Returns the fastest of `o.tune` tilings of a graph, measured on this machine's GPU or found in the cache.
Tuned tuned(const graph::KernelGraph& g, const target::Target& target, const CompileOptions& o, const Cache& cache) {
  const graph::InputChoice inputs = graph::choose_inputs(g, o.seed, given_inputs(g, o.inputs));
  o.say("waiting for the GPU");
  const OpenFile alone = lock_gpu(cache);
  o.say("tuning");
  // Inputs are packed once, which may take seconds: tilings differ only in the intermediates.
  std::vector<Bytes> storage;
  std::vector<emit::TensorPlace> places;
  const auto compiled = [&](const emit::Program& p) {
    return compile_cubin(p.source, architecture_for(p.manifest.target), cache);
  };
  const auto measure = [&](const emit::Program& p) {
    if (places != p.manifest.tensors) storage = starting_storage(g, p.manifest, inputs), places = p.manifest.tensors;
    return measure_on_gpu(p.manifest, compiled(p), storage);
  };
  return tune(g, target, o.plan, o.tune, measure, device().name, cache, o.say, compiled);
}

/// Returns whether `tiling` is a word for the planner's or the graph's tilings, not explicit ones.
bool is_word(std::string_view tiling) { return tiling.empty() || tiling == "given" || tiling == "chosen"; }

/// Returns the options for the tilings in `json`, a manifest or a list of tilings; `source` names it in messages.
plan::PlanOptions replayed(std::string_view json, std::string_view source) {
  return {.tiles = plan::Tiles::fixed,
          .tiling = retile::parse_tiling(json, source),
          .decomposed = retile::is_decomposed(json, source)};
}

}  // namespace

fuse::Optimized fused(graph::KernelGraph g, const target::Target& target, CompileOptions& o,
                      const std::optional<Cache>& cache) {
  declare_constant(g, o.constants);
  if (!o.fuse && o.plan.decomposed)
    fail("{}: expected a tiling of the graph as it is given, found one of its custom operators decomposed", g.name);
  if (!o.fuse) return {.graph = std::move(g)};
  const bool automatic = o.plan.tiles == plan::Tiles::automatic;
  const fuse::Custom custom = automatic           ? fuse::Custom::cheaper
                              : o.plan.decomposed ? fuse::Custom::decomposed
                                                  : fuse::Custom::kept;
  PlanCache kept(cache, target);
  fuse::Optimized fused = fuse::optimize(g, target, custom, kept.costs(), o.watch, o.reasons);
  kept.keep();
  o.plan.decomposed = fused.decomposed;
  // The tiles of fused kernel-level operators have been selected with the groups.
  if (automatic && retile::tiling_of(g).empty()) o.plan.tiles = plan::Tiles::given;
  return fused;
}

Compiled compile(graph::KernelGraph g, const target::Target& target, CompileOptions o,
                 const std::optional<Cache>& cache) {
  plan::Rejections own, &rejected = o.rejected ? *o.rejected : own;
  Compiled made;
  auto start = Clock::now();
  made.fused = fused(std::move(g), target, o, cache);
  plan::add(rejected, made.fused.rejected);
  made.plan_ms = ms_since(start);
  if (o.tune > 0) {
    made.tuned = tuned(made.fused.graph, target, o, cache.value());
    o.plan.tiles = plan::Tiles::fixed, o.plan.tiling = made.tuned.tiling;
    plan::add(rejected, made.tuned.rejected);
  }
  start = Clock::now();
  made.program = emit::transpile(made.fused.graph, target, o.plan);
  plan::add(rejected, made.program.plan.rejected);
  made.program.plan.rejected = rejected;
  made.plan_ms += ms_since(start);
  return made;
}

plan::PlanOptions tiling_options(std::string_view tiling, const target::Target& target, std::string_view source) {
  if (!is_word(tiling)) return replayed(tiling, source);
  const bool automatic = tiling == "chosen" || (tiling.empty() && target.costs.measured);
  return {.tiles = automatic ? plan::Tiles::automatic : plan::Tiles::given};
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
