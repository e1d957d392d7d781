#include "api/compile.hpp"

#include "api/launcher.hpp"
#include "fuse/custom.hpp"
#include "graph/error.hpp"
#include "run/constant.hpp"
#include "run/nvrtc.hpp"
#include "run/plan_cache.hpp"
#include "run/run.hpp"
#include "tiling/options.hpp"

namespace zellige::api {

const Gpu& gpu() {
  static const Gpu found = [] {
    Gpu g;
    try {
      const KeptContext kept;
      g.target = run::gpu_target();
    } catch (const Error& e) {
      g.why_not = e.what();
    }
    return g;
  }();
  return found;
}

namespace {

/// Returns the target of this machine's GPU, if the options ask for it; "" if not, or if there is no GPU.
/// Throws Error if they ask for a GPU or a compiler that cannot be used.
std::string here(const Options& o) {
  if (o.on == On::gpu && !gpu().why_not.empty()) fail("on gpu: {}", gpu().why_not);
  const bool asks_gpu = o.on == On::gpu || (o.on == On::any && (o.target.empty() || o.tune > 0));
  if (asks_gpu) run::require_named_nvrtc();
  return asks_gpu ? gpu().target : "";
}

}  // namespace

const target::Target& target_of(const Options& o) {
  const std::string gpus = here(o);
  return target::find(!o.target.empty() ? o.target : !gpus.empty() ? gpus : "sm_80");
}

Compiled compile(graph::KernelGraph graph, const Options& o, const run::Cache& cache) {
  const target::Target& target = target_of(o);
  if (o.tune < 0) fail("tune: expected 0 or how many tilings to measure, found {}", o.tune);
  if (o.tune > 0 && here(o).empty())
    fail("tune: needs a GPU; {}", o.on == On::any ? gpu().why_not : "this runs on the host");
  run::declare_constant(graph, o.constants);
  plan::PlanOptions asked = plan::tiling_options(o.tiling, target);
  if (asked.tiles == plan::Tiles::fixed) plan::state(asked, o.tiling, "tiling");
  fuse::Optimized fused =
      run::optimize_with_options(graph, target, !o.as_given, asked, cache, o.watch, fuse::Reasons::omitted);
  graph = std::move(fused.graph);
  plan::Rejections rejected = std::move(fused.rejected);
  if (o.tune > 0) {
    const KeptContext kept;
    const run::Options measured{
        .on = run::Engine::gpu, .target = std::string(target.name), .plan_options = asked, .tune = o.tune};
    run::Tuned found = run::tuned(graph, measured, cache);
    asked.tiling = std::move(found.tiling), asked.tiles = plan::Tiles::fixed;
    plan::add(rejected, found.rejected);
  }
  emit::Program program = emit::transpile(graph, target, asked);
  plan::add(rejected, program.plan.rejected);
  program.plan.rejected = std::move(rejected);
  return {std::move(program), std::move(fused.limits)};
}

}  // namespace zellige::api
