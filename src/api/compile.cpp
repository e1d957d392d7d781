#include "api/compile.hpp"

#include "api/launcher.hpp"
#include "fuse/custom.hpp"
#include "graph/constant.hpp"
#include "graph/error.hpp"
#include "run/nvrtc.hpp"
#include "run/plan_cache.hpp"
#include "run/run.hpp"
#include "target/target.hpp"
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

Compiled compile(graph::KernelGraph graph, const Options& o, const run::Cache& cache) {
  if (o.on == On::gpu && !gpu().why_not.empty()) fail("on gpu: {}", gpu().why_not);
  const bool asks_gpu = o.on == On::gpu || (o.on == On::any && (o.target.empty() || o.tune > 0));
  if (asks_gpu) run::require_named_nvrtc();
  const std::string here = asks_gpu ? gpu().target : "";
  const target::Target& target = target::find(!o.target.empty() ? o.target : !here.empty() ? here : "sm_80");
  if (o.tune < 0) fail("tune: expected 0 or how many tilings to measure, found {}", o.tune);
  if (o.tune > 0 && here.empty())
    fail("tune: needs a GPU; {}", o.on == On::any ? gpu().why_not : "this runs on the host");
  graph::declare_constant(graph, o.constants);
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
