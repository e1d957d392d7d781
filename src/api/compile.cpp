#include "api/compile.hpp"

#include "api/launcher.hpp"
#include "graph/error.hpp"
#include "run/nvrtc.hpp"

namespace zellige::api {

const run::GpuFound& gpu() {
  static const run::GpuFound found = [] {
    run::GpuFound g;
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
std::string here(const CallOptions& o) {
  if (o.on == On::gpu && !gpu().why_not.empty()) fail("on gpu: {}", gpu().why_not);
  const bool asks_gpu = o.on == On::gpu || (o.on == On::any && (o.target.empty() || o.compile.tune > 0));
  if (asks_gpu) run::require_named_nvrtc();
  return asks_gpu ? gpu().target : "";
}

}  // namespace

const target::Target& target_of(const CallOptions& o) {
  const std::string gpus = here(o);
  return target::find(!o.target.empty() ? o.target : !gpus.empty() ? gpus : "sm_80");
}

CompiledProgram compile(graph::KernelGraph graph, const CallOptions& o, const run::Cache& cache) {
  const target::Target& target = target_of(o);
  if (o.compile.tune < 0) fail("tune: expected 0 or how many tilings to measure, found {}", o.compile.tune);
  if (o.compile.tune > 0 && here(o).empty())
    fail("tune: needs a GPU; {}", o.on == On::any ? gpu().why_not : "this runs on the host");
  std::optional<KeptContext> kept;
  if (o.compile.tune > 0) kept.emplace();
  run::CompileOptions options = o.compile;
  options.plan = run::tiling_options(o.tiling, target);
  options.reasons = fuse::Reasons::omitted;
  run::Compiled made = run::compile(std::move(graph), target, std::move(options), cache);
  return {std::move(made.program), std::move(made.fused.limits)};
}

}  // namespace zellige::api
