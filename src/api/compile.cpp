#include "api/launcher.hpp"
#include "api/program.hpp"
#include "graph/error.hpp"
#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "toolchain/cache.hpp"
#include "toolchain/nvrtc.hpp"

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

using json::Json;

constexpr std::string_view kind_of_programs = "program";

/// Returns the key of a program among those that are kept.
std::string key_of(const graph::KernelGraph& graph, const CallOptions& o) {
  toolchain::Key key;
  key.add(json::to_json(graph)).add(target_of(o).name).add(o.tiling);
  for (const std::string& name : o.compile.constants) key.add(name);
  for (const tile::Size& s : o.compile.plan.sizes)
    key.add(fmt::format("{} {} {} {}", s.name, s.low, s.high, s.multiple));
  return key.add(o.compile.fuse ? "fused" : "as given").hex();
}

/// Returns the target of this machine's GPU, if the options ask for it; "" if not, or if there is no GPU.
/// Throws Error if they ask for a GPU or a compiler that cannot be used.
std::string here(const CallOptions& o) {
  if (o.on == On::gpu && !gpu().why_not.empty()) fail("on gpu: {}", gpu().why_not);
  const bool asks_gpu = o.on == On::gpu || (o.on == On::any && (o.target.empty() || o.compile.tune > 0));
  if (asks_gpu) toolchain::require_named_nvrtc();
  return asks_gpu ? gpu().target : "";
}

}  // namespace

const target::Target& target_of(const CallOptions& o) {
  const std::string gpus = here(o);
  return target::find(!o.target.empty() ? o.target : !gpus.empty() ? gpus : "sm_80");
}

CompiledProgram compile(graph::KernelGraph graph, const CallOptions& o, const toolchain::Cache& cache) {
  const target::Target& target = target_of(o);
  if (o.compile.tune < 0) fail("tune: expected 0 or how many tilings to measure, found {}", o.compile.tune);
  if (o.compile.tune > 0 && here(o).empty())
    fail("tune: needs a GPU; {}", o.on == On::any ? gpu().why_not : "this runs on the host");
  std::optional<KeptContext> kept;
  if (o.compile.tune > 0) kept.emplace();
  run::CompileOptions options = o.compile;
  options.plan = run::tiling_options(o.tiling, target);
  options.plan.sizes = o.compile.plan.sizes;
  options.reasons = fuse::Reasons::omitted;
  run::Compiled made = run::compile(std::move(graph), target, std::move(options), cache);
  return {std::move(made.program), std::move(made.fused.limits)};
}

std::optional<CompiledProgram> kept_program(const graph::KernelGraph& graph, const CallOptions& o,
                                            const toolchain::Cache& cache) {
  const std::optional<std::string> entry = toolchain::kept(cache, kind_of_programs, key_of(graph, o));
  if (!entry) return std::nullopt;
  try {
    const Json j = Json::from_cbor(*entry);
    CompiledProgram made{.limits = j.at("limits"), .manifest = j.at("manifest")};
    made.program.source = j.at("source");
    made.program.manifest = manifest::parse_manifest(made.manifest, graph.name);
    made.program.cost.us = j.at("us");
    made.program.plan.rejected = j.at("rejected");
    return made;
  } catch (const std::exception&) {  // an entry of this build that cannot be read is planned again
    return std::nullopt;
  }
}

void keep_program(const graph::KernelGraph& graph, const CallOptions& o, const toolchain::Cache& cache,
                  const CompiledProgram& c) {
  const std::vector<std::uint8_t> entry = Json::to_cbor({{"source", c.program.source},
                                                         {"manifest", manifest::to_json(c.program.manifest)},
                                                         {"us", c.program.cost.us},
                                                         {"limits", c.limits},
                                                         {"rejected", c.program.plan.rejected}});
  toolchain::keep(cache, kind_of_programs, key_of(graph, o),
                  {reinterpret_cast<const char*>(entry.data()), entry.size()});
}

}  // namespace zellige::api
