// Implements `zellige transpile`: compiles a graph and writes its CUDA source code and manifest to files.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "emit/emit.hpp"
#include "emit/host_text.hpp"
#include "graph/collective.hpp"
#include "ir/ir.hpp"
#include "manifest/variants.hpp"
#include "ranks/rank_program.hpp"
#include "run/compile.hpp"
#include "run/dump.hpp"
#include "run/outputs.hpp"
#include "run/plan_cache.hpp"
#include "system/files.hpp"
#include "target/target.hpp"
#include "toolchain/headers.hpp"
#include "toolchain/host_compiler.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::cli {
namespace {

struct TranspileArguments {
  std::string file, folder = ".", target = "sm_80", tiling;
  int index = 0, variants = run::CompileOptions{}.variants;
  std::vector<std::string> constants, sizes;
  std::vector<std::string> emit = {"cu"};
  bool one_file = false, explain = false, force = false, as_given = false;
  std::string print_after;
};

/// Returns the function that prints what is left of the passes that --print-after names; empty if it names none.
std::function<void(const run::Pass&, const run::PassState&)> printer(const std::string& name, ProgressLine& progress) {
  if (name.empty()) return {};
  if (name != "all") run::pass_named(name);
  return [name, &progress](const run::Pass& pass, const run::PassState& state) {
    if (name != "all" && name != pass.name) return;
    progress.clear();
    say(stdout, "// ---- after {}, which {}\n{}", pass.name, pass.does, pass.print(state));
  };
}

void list_passes() {
  for (const run::Pass& pass : run::passes()) say(stdout, "{:<10} {} ({})\n", pass.name, pass.does, pass.header);
}

/// Writes the files that --emit selects, and the manifest that lists them. Returns the paths of all written files.
std::vector<std::string> write(const TranspileArguments& a, const emit::EmittedProgram& program,
                               run::Outputs& outputs) {
  const std::string stem = (std::filesystem::path(a.folder) / program.manifest.name).string();
  const auto asked = [&](const char* what) { return std::ranges::count(a.emit, what) > 0; };
  std::vector<std::string> paths;
  manifest::Manifest manifest = program.manifest;
  const auto put = [&](const std::string& ending, const std::string& content) {
    outputs.put(paths.emplace_back(stem + ending), content);
    manifest.artefacts.push_back(manifest::artefact(manifest.name + ending, content));
  };
  const toolchain::Cache cache = toolchain::Cache::standard();
  if (asked("cu")) put(".cu", program.source + (asked("h") ? emit::cuda_definition(program.manifest) : ""));
  if (asked("h")) put(".h", emit::c_header(program.manifest));
  if (asked("cubin") || asked("so")) {
    const toolchain::Cubin cubin = toolchain::compile_cubin(program.source, program.manifest.target, cache);
    manifest.nvrtc = toolchain::nvrtc_version();
    if (asked("cubin")) put(".cubin", cubin.bytes);
    if (asked("so")) put(".so", toolchain::shared_object(program.manifest, cubin.bytes, cache));
  }
  if (asked("ir")) put(".ir", ir::print(program));
  put(".manifest.json", manifest::to_json(manifest));
  return paths;
}

void explain(const std::vector<std::string>& notes, const emit::EmittedProgram& program) {
  for (const std::string& note : notes) say(stdout, "{}\n", note);
  say(stdout, "{}{}{}\n", ir::print(program), ir::consequences(program.plan), predict::print(program.cost));
}

/// Writes the programs of a graph over ranks, and the list of its steps. Returns the paths of all written files.
std::vector<std::string> transpile_ranks(const TranspileArguments& a, graph::KernelGraph g,
                                         const target::Target& target, run::CompileOptions options,
                                         run::Outputs& outputs) {
  run::declare_constant(g, std::exchange(options.constants, {}));
  ranks::RankProgram p = ranks::compile_over_ranks(g, target, options, run::standard_cache());
  system::create_folders(a.folder);
  std::vector<std::string> paths;
  for (ranks::RankStep& step : p.steps) {
    if (!step.program) continue;
    tell(g.name, step.program->plan.rejected);
    if (a.one_file) step.program->source = toolchain::standalone(step.program->source);
    std::ranges::copy(write(a, *step.program, outputs), std::back_inserter(paths));
    if (a.explain) explain(step.notes, *step.program);
  }
  paths.push_back((std::filesystem::path(a.folder) / (run::file_name(g.name) + ".ranks.json")).string());
  outputs.put(paths.back(), ranks::to_json(p));
  return paths;
}

int transpile(const TranspileArguments& a) {
  const target::Target& target = target::find(a.target);
  run::Outputs outputs({a.file}, a.force);
  const graph::KernelGraph graph = graph::narrowed(choose(a.file, a.index), size_ranges(a.sizes));
  ProgressLine progress;
  run::CompileOptions options{.constants = a.constants,
                              .fuse = !a.as_given,
                              .plan = run::parse_tiling_option(a.tiling, target),
                              .variants = a.variants,
                              .watch = watch(progress, graph.name),
                              .after = printer(a.print_after, progress)};
  std::vector<std::string> paths;
  if (graph::has_collectives(graph)) {
    paths = transpile_ranks(a, graph, target, std::move(options), outputs);
    progress.clear();
  } else {
    run::Compiled made = run::compile(graph, target, std::move(options), run::standard_cache());
    progress.clear();
    emit::EmittedProgram& program = made.program;
    tell(graph.name, program.plan.rejected);
    if (a.one_file) program.source = toolchain::standalone(program.source);
    system::create_folders(a.folder);
    paths = write(a, program, outputs);
    if (a.explain) explain(made.fused.notes, program);
  }
  outputs.commit();
  // A script needs the names unchanged; a terminal would interpret control characters in them.
  for (const std::string& path : paths) fmt::print("{}\n", ::isatty(1) ? strings::shown(path) : path);
  return success;
}

}  // namespace

void add_transpile(CLI::App& app, int& status) {
  auto a = std::make_shared<TranspileArguments>();
  CLI::App* command = app.add_subcommand(
      "transpile", "Write a graph's CUDA source NAME.cu (or the files that --emit names) and NAME.manifest.json");
  add_example(command, "zellige transpile examples/lora.json --target sm_90a --explain -o out");
  add_graph(command, a->file, a->index);
  command->add_option("-o,--output", a->folder, "Folder to write into")
      ->type_name(output_folder)
      ->capture_default_str();
  add_target(command, a->target);
  add_tiling(command, a->tiling);
  add_as_given(command, a->as_given);
  add_constants(command, a->constants);
  add_size_ranges(command, a->sizes);
  command
      ->add_option("--variants", a->variants,
                   "Of a graph that leaves sizes open: at most this many programs, each with kernels for a part of the "
                   "values, between which a launch chooses; 1: one for all")
      ->type_name("N")
      ->check(CLI::Range(1, static_cast<int>(manifest::max_variants)))
      ->capture_default_str();
  command
      ->add_option("--emit", a->emit,
                   "Files to write next to the manifest: cu, the CUDA source; h, a C header that declares the program "
                   "as one function, which cu then defines; cubin; so, a shared object with that function and the "
                   "cubin; ir, the kernels as text, which zellige emit compiles")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(one_of({"cu", "h", "cubin", "so", "ir"}))
      ->capture_default_str();
  command->add_flag("--standalone", a->one_file, "Include Zellige's headers in NAME.cu, so that it compiles alone");
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--explain", a->explain, "Print the plan and the expected time of each kernel");
  command->add_option("--print-after", a->print_after, "Print what this pass leaves, as text; all: what each does")
      ->type_name("PASS");
  command->add_flag_callback(
      "--list-passes",
      [] {
        list_passes();
        throw CLI::Success();
      },
      "Print the passes in order, and compile nothing");
  command->callback([a, &status] { status = transpile(*a); });
}

}  // namespace zellige::cli
