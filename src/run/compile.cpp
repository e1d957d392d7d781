#include "run/compile.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <utility>

#include "fuse/separate.hpp"
#include "graph/collective.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "rewrite/rewrite.hpp"
#include "run/driver.hpp"
#include "run/gpu.hpp"
#include "run/plan_cache.hpp"
#include "run/sized.hpp"
#include "strings/shown.hpp"
#include "system/elapsed.hpp"
#include "system/files.hpp"
#include "tiling/choose_tilings.hpp"
#include "variants/variants.hpp"

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

kernel::Rejections& rejected(const PassState& s) { return *s.options.rejected; }

PassState constants(PassState s, const std::optional<toolchain::Cache>&) {
  declare_constant(s.graph, s.options.constants);
  return s;
}

PassState fuse_operators(PassState s, const std::optional<toolchain::Cache>& cache) {
  const std::vector<int> inputs = s.graph.inputs;
  // If there are custom operators alone, nothing is to be fused, and `schedule` looks for other tiles for those that do not fit.
  const bool custom_alone =
      s.options.plan.tiles == plan::TilingPolicy::given && retile::tiling_of(s.graph).size() == s.graph.ops.size();
  const auto fuse = [&] { s.fused = fused(s.graph, *s.target, s.options, cache); };
  if (!custom_alone)
    fuse();
  else if (refused(fuse))
    s.options.fuse = false, fuse();
  s.graph = s.fused.graph, s.extents = graph::name_extents(s.graph, s.extents);
  s.options.plan.sizes = moved(std::move(s.options.plan.sizes), inputs, s.graph.inputs);
  kernel::add(rejected(s), s.fused.rejected);
  return s;
}

/// Returns the fastest of CompileOptions::tune tilings of a graph, measured on this machine's GPU or found in the cache.
Tuned tuned(const graph::KernelGraph& g, const target::Target& target, const CompileOptions& o,
            const toolchain::Cache& cache) {
  const reference::InputChoice inputs = reference::choose_inputs(g, o.seed, given_inputs(g, o.inputs));
  o.say("waiting for the GPU");
  const system::OpenFile alone = lock_gpu(cache);
  o.say("tuning");
  // Inputs are packed once, which may take seconds: tilings differ only in the intermediates.
  std::vector<Bytes> storage;
  std::vector<manifest::TensorPlace> places;
  const auto compiled = [&](const emit::EmittedProgram& p) {
    return toolchain::compile_cubin(p.source, architecture_for(p.manifest.target), cache);
  };
  const auto measure = [&](const emit::EmittedProgram& p) {
    if (places != p.manifest.tensors) storage = starting_storage(g, p.manifest, inputs), places = p.manifest.tensors;
    return measure_on_gpu(p.manifest, compiled(p), storage);
  };
  return tune(g, target, o.plan, o.tune, measure, device().name, cache, o.say, compiled);
}

PassState tune_tilings(PassState s, const std::optional<toolchain::Cache>& cache) {
  if (s.options.tune == 0) return s;
  s.tuned = tuned(s.graph, *s.target, s.options, cache.value());
  s.options.plan.tiles = plan::TilingPolicy::fixed, s.options.plan.tiling = s.tuned.tiling;
  kernel::add(rejected(s), s.tuned.rejected);
  return s;
}

PassState tile(PassState s, const std::optional<toolchain::Cache>&) {
  tiling::TiledGraph t = tiling::tiled(std::move(s.graph), *s.target, s.options.plan);
  s.graph = std::move(t.graph), s.notes = std::move(t.notes);
  kernel::add(rejected(s), t.rejected);
  return s;
}

PassState lower(PassState s, const std::optional<toolchain::Cache>&) {
  s.selected.plan = plan::lowered(s.graph, *s.target, s.options.plan.sizes);
  for (const std::string& note : s.notes) s.selected.plan.program.notes.push_back(note);
  return s;
}

PassState select(PassState s, const std::optional<toolchain::Cache>&) {
  s.selected = plan::selected(std::move(s.selected.plan), *s.target);
  return s;
}

/// Schedules the kernels. If a custom operator's given tiles need more of the target than it has, others take their place that are proved to
/// compute the same; throws the error of the given ones if none of them fits either.
PassState schedule(PassState s, const std::optional<toolchain::Cache>& cache) {
  try {
    s.plan = plan::scheduled(std::move(s.selected), *s.target, s.options.plan.blocks);
    return s;
  } catch (const DoesNotFit& given) {
    if (s.options.plan.tiles != plan::TilingPolicy::given || retile::tiling_of(s.graph).empty()) throw;
    s.options.plan.tiles = plan::TilingPolicy::automatic, s.selected = {};
    if (refused([&] { s = select(lower(tile(s, cache), cache), cache); })) throw DoesNotFit(given);
  }
  s.plan = plan::scheduled(std::move(s.selected), *s.target, s.options.plan.blocks);
  return s;
}

PassState prove(PassState s, const std::optional<toolchain::Cache>&) {
  s.plan = plan::proved(std::move(s.plan), *s.target, s.options.plan.registers_proved);
  s.plan.rejected = rejected(s);
  return s;
}

PassState emit(PassState s, const std::optional<toolchain::Cache>&) {
  s.program = emit::from_plan(std::move(s.plan), s.graph.name, retile::tiling_of(s.graph), s.options.plan.decomposed);
  s.program.graph = std::move(s.graph), s.program.extents = s.extents;
  return s;
}

std::string lines(const std::vector<std::string>& notes) {
  return notes.empty() ? "" : fmt::format("{}\n", fmt::join(notes, "\n"));
}

std::string print_graph(const PassState& s) {
  return graph::to_string(s.extents, s.graph) + json::to_json(s.graph) + "\n";
}

std::string print_fused(const PassState& s) { return lines(s.fused.notes) + print_graph(s); }

std::string print_tuned(const PassState& s) {
  return s.options.tune == 0 ? "no tilings were to be measured\n" : retile::print(s.tuned.tiling) + "\n";
}

std::string print_tilings(const PassState& s) {
  return lines(s.notes) + retile::print(retile::tiling_of(s.graph)) + "\n";
}

/// Returns the tile programs of a plan that has no kernels yet, as `.ir`.
std::string print_tile_programs(const PassState& s) {
  plan::Plan plan = s.selected.plan;
  for (const tile::TileProgram& p : plan.program.kernels) plan.kernels.push_back({.program = p});
  return ir::print(plan, s.extents);
}

/// Returns the instruction of each matmul and how the warps divide it, then the tile programs.
std::string print_selected(const PassState& s) {
  std::string text;
  for (const selection::Selection& k : s.selected.kernels)
    for (const auto& [node, choice] : k.matmuls) {
      const kernel::WarpLayout& w = choice.warps;
      text += fmt::format("{}: %{} by {}, warps ({},{},{},{}) of batch, M, N and K", k.program.name, node,
                          choice.row ? choice.row->name : "dot products of threads", w.b, w.m, w.n, w.k);
      if (const auto from = k.fragments_from.find(node); from != k.fragments_from.end())
        text += fmt::format(", A in registers from %{}", from->second);
      text += "\n";
    }
  return text + print_tile_programs(s);
}

std::string print_plan(const PassState& s) { return ir::print(s.plan, s.extents); }

std::string print_proved(const PassState& s) {
  std::string text;
  for (const kernel::Kernel& k : s.plan.kernels)
    text += fmt::format("{}: proved, {} bytes of shared memory, {} registers a thread\n", k.program.name,
                        k.shared_bytes, k.registers);
  return text;
}

std::string print_source(const PassState& s) { return s.program.source; }

constexpr Pass all[] = {
    {"constants", "marks the inputs that --constant names", "run/compile.hpp", constants, print_graph},
    {"fuse",
     "rewrites the operators and groups them into kernels, each a custom operator, by expected time; with --as-given "
     "one for each operator",
     "fuse/custom.hpp", fuse_operators, print_fused},
    {"tune", "measures tilings on the GPU, if --tune asks for it", "run/tune.hpp", tune_tilings, print_tuned},
    {"tile", "chooses the grids, loops and threads of custom operators that the user gave", "tiling/choose_tilings.hpp",
     tile, print_tilings},
    {"lower", "translates each custom operator, and each view that needs a copy, into a tile program",
     "lower/lower.hpp", lower, print_tile_programs},
    {"select",
     "applies the rules of tile programs, then chooses the instruction of each matmul, and the layouts of all tensors",
     "selection/select.hpp", select, print_selected},
    {"schedule", "orders the work of each kernel, with its buffers, barriers, stages and roles of warps",
     "plan/choose.hpp", schedule, print_plan},
    {"prove", "has the verifier check each kernel, the launches and the tensors", "plan/prove.hpp", prove,
     print_proved},
    {"emit", "writes the CUDA source and the manifest", "emit/emit.hpp", emit, print_source},
};

}  // namespace

/// Says what to do with a graph over ranks, which is more than one program.
constexpr std::string_view one_program = "`zellige run` runs it, as programs between its collectives";

fuse::Optimized fused(graph::KernelGraph g, const target::Target& target, CompileOptions& o,
                      const std::optional<toolchain::Cache>& cache) {
  graph::refuse_collectives(g, one_program);
  g.sizes = nullptr;  // fused operators are those of the greatest values
  if (!o.fuse && o.plan.decomposed)
    fail("{}: expected a tiling of the graph as it is given, found one of its custom operators decomposed", g.name);
  std::optional<retile::Tiling> declared;
  if (o.plan.tiles == plan::TilingPolicy::fixed)
    declared = std::exchange(o.plan.tiling, {}), o.plan.tiles = plan::TilingPolicy::given;
  PlanCache kept(cache, target);
  if (!o.fuse) {
    // Operators that no output needs have no kernel. Tilings that are declared name operators by number.
    const graph::KernelGraph needed = declared ? g : rewrite::live(g);
    fuse::Optimized as_given{.graph = fuse::separate(needed, target, kept.costs(), declared)};
    kept.keep();
    return as_given;
  }
  const bool automatic = o.plan.tiles == plan::TilingPolicy::automatic;
  const fuse::Custom custom = automatic           ? fuse::Custom::cheaper
                              : o.in_parts        ? fuse::Custom::in_parts
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
                 const std::optional<toolchain::Cache>& cache) {
  kernel::Rejections own;
  if (!o.rejected) o.rejected = &own;
  const int programs = !g.sizes || o.tune > 0 || o.plan.tiles == plan::TilingPolicy::fixed ? 1 : o.variants;
  if (programs < 2) {
    PassState s = run_passes(passes(), {.graph = std::move(g), .target = &target, .options = std::move(o)}, cache);
    return {std::move(s.program), std::move(s.fused), std::move(s.tuned), s.plan_ms};
  }
  PassState s = run_passes(passes(), {.graph = g, .target = &target, .options = o}, cache);
  o.after = {}, o.rejected = &own;
  const auto narrowed = [&](graph::KernelGraph part) {
    PassState of = run_passes(passes(), {.graph = std::move(part), .target = &target, .options = o}, cache);
    s.plan_ms += of.plan_ms;
    return std::move(of.program);
  };
  emit::EmittedProgram program = variants::with_variants(std::move(s.program), g, target, programs, narrowed);
  return {std::move(program), std::move(s.fused), std::move(s.tuned), s.plan_ms};
}

plan::PlanOptions tiling_options(std::string_view tiling, const target::Target& target, std::string_view source) {
  if (!is_word(tiling)) return replayed(tiling, source);
  const bool automatic = tiling == "chosen" || (tiling.empty() && target.costs.measured);
  return {.tiles = automatic ? plan::TilingPolicy::automatic : plan::TilingPolicy::given};
}

plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target& target) {
  if (is_word(tiling)) return tiling_options(tiling, target);
  constexpr std::size_t max_bytes = std::size_t{1} << 26;
  const std::string text = system::FileReader(tiling).next(max_bytes + 1), name = strings::shown(tiling);
  if (text.size() > max_bytes)
    fail("{}: expected a manifest or its list of tilings, of at most {} bytes, found more", name, max_bytes);
  return replayed(text, name);
}

void declare_constant(graph::KernelGraph& g, const std::vector<std::string>& names) {
  for (const std::string& name : names) g.tensors[g.inputs[input_named(g, name, "--constant names")]].constant = true;
}

std::span<const Pass> passes() { return all; }

const Pass& pass_named(std::string_view name) {
  std::string names;
  for (const Pass& pass : all) {
    if (pass.name == name) return pass;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
  }
  fail("expected the name of a pass ({}), found {}", names, strings::shown(name));
}

PassState run_passes(std::span<const Pass> some, PassState s, const std::optional<toolchain::Cache>& cache) {
  const std::string name = s.graph.name;
  std::optional<graph::KernelGraph> sized;
  s.extents = graph::name_extents(s.graph);
  if (s.graph.sizes) {
    sized = s.graph;
    s.options.plan.sizes = plan_sizes(s.graph), s.graph.sizes = nullptr;
  }
  const auto all_passes = [&](PassState of) {
    for (const Pass& pass : some) {
      const auto start = system::SteadyClock::now();
      of = pass.run(std::move(of), cache);
      if (pass.name != "tune") of.plan_ms += system::ms_since(start);
      if (sized && pass.name == "prove" && !of.plan.program.sizes.empty()) try_sizes(plan::planned(of.plan), *sized);
      if (of.options.after) of.options.after(pass, of);
    }
    return of;
  };
  try {
    const bool has_parts = std::ranges::count(some, std::string_view("fuse"), &Pass::name) > 0 && !sized &&
                           s.options.plan.tiles != plan::TilingPolicy::fixed && !retile::tiling_of(s.graph).empty();
    if (!has_parts) return all_passes(std::move(s));
    try {
      return all_passes(s);
    } catch (const DoesNotFit& one_kernel) {
      s.options.in_parts = s.options.fuse = true, s.options.plan.tiles = plan::TilingPolicy::given;
      if (refused([&] { s = all_passes(std::move(s)); })) throw DoesNotFit(one_kernel);
      s.fused.notes.push_back(fmt::format("custom operators are computed in parts: {}", one_kernel.what()));
      return s;
    }
  } catch (const std::bad_alloc&) {
    fail("{}: its plan and source need more memory than this machine has", name);
  }
}

emit::EmittedProgram transpile(const graph::KernelGraph& graph, const target::Target& target,
                               const plan::PlanOptions& options) {
  graph::refuse_collectives(graph, one_program);
  kernel::Rejections rejected;
  const auto tile = std::ranges::find(all, std::string_view("tile"), &Pass::name);
  return run_passes({tile, std::end(all)},
                    {.graph = graph, .target = &target, .options = {.plan = options, .rejected = &rejected}})
      .program;
}

}  // namespace zellige::run
