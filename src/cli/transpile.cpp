// Implements `zellige transpile`: compiles a graph and writes its CUDA source code and manifest to files.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/rejections.hpp"
#include "cli/terminal.hpp"
#include "cli/tiling.hpp"
#include "emit/c_header.hpp"
#include "emit/emit.hpp"
#include "emit/seal.hpp"
#include "fuse/custom.hpp"
#include "ir/ir.hpp"
#include "run/constant.hpp"
#include "run/files.hpp"
#include "run/nvrtc.hpp"
#include "run/outputs.hpp"
#include "run/plan_cache.hpp"
#include "run/shared_object.hpp"
#include "run/standalone.hpp"
#include "run/tiling_option.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

struct Arguments {
  std::string file, folder = ".", target = "sm_80", tiling;
  int index = 0;
  std::vector<std::string> constants;
  std::vector<std::string> emit = {"cu"};
  bool one_file = false, explain = false, force = false, as_given = false;
};

/// Writes the files that --emit selects, and the manifest that lists them. Returns the paths of all written files.
std::vector<std::string> write(const Arguments& a, const emit::Program& program, run::Outputs& outputs) {
  const std::string stem = (std::filesystem::path(a.folder) / program.manifest.name).string();
  const auto asked = [&](const char* what) { return std::ranges::count(a.emit, what) > 0; };
  std::vector<std::string> paths;
  emit::Manifest manifest = program.manifest;
  const auto put = [&](const std::string& ending, const std::string& content) {
    outputs.put(paths.emplace_back(stem + ending), content);
    manifest.artefacts.push_back(emit::artefact(manifest.name + ending, content));
  };
  const run::Cache cache = run::Cache::standard();
  if (asked("cu")) put(".cu", program.source + (asked("h") ? emit::cuda_definition(program.manifest) : ""));
  if (asked("h")) put(".h", emit::c_header(program.manifest));
  if (asked("cubin") || asked("so")) {
    const run::Cubin cubin = run::compile_cubin(program.source, program.manifest.target, cache);
    manifest.nvrtc = run::nvrtc_version();
    if (asked("cubin")) put(".cubin", cubin.bytes);
    if (asked("so")) put(".so", run::shared_object(program.manifest, cubin.bytes, cache));
  }
  if (asked("ir")) put(".ir", ir::print(program));
  put(".manifest.json", emit::to_json(manifest));
  outputs.commit();
  return paths;
}

int transpile(const Arguments& a) {
  const target::Target& target = target::find(a.target);
  run::Outputs outputs({a.file}, a.force);
  graph::Loaded loaded = choose(a.file, a.index);
  if (!loaded.error.empty()) throw Error(loaded.error);
  run::declare_constant(loaded.graph, a.constants);
  plan::PlanOptions plan_options = run::parse_tiling_option(a.tiling, target);
  Progress progress;
  const fuse::Optimized fused =
      run::optimize_with_options(loaded.graph, target, !a.as_given, plan_options, run::standard_cache(),
                                 watch(progress, loaded.graph.name));
  progress.clear();
  emit::Program program = emit::transpile(fused.graph, target, plan_options);
  plan::Rejections rejected = fused.rejected;
  plan::add(rejected, program.plan.rejected);
  tell(loaded.graph.name, rejected);
  if (a.one_file) program.source = run::standalone(program.source);

  run::create_folders(a.folder);
  const std::vector<std::string> paths = write(a, program, outputs);
  if (a.explain) {
    for (const std::string& note : fused.notes) say(stdout, "{}\n", note);
    say(stdout, "{}{}\n", plan::print(program.plan), plan::print(program.cost));
  }
  // A script needs the names unchanged; a terminal would interpret control characters in them.
  for (const std::string& path : paths) fmt::print("{}\n", ::isatty(1) ? graph::shown(path) : path);
  return success;
}

}  // namespace

Entry add_transpile(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "transpile",
      "Write a graph's CUDA source NAME.cu (or the files that --emit names) and NAME.manifest.json");
  add_example(command, "zellige transpile examples/lora.json --target sm_90a --explain -o out");
  command->add_option("FILE", a->file, "A graph file: Zellige's JSON or Mirage's; - is stdin")->required();
  command->add_option("--index", a->index, "Number of the graph in the file")
      ->check(integer(0, max_index))
      ->capture_default_str();
  command->add_option("-o,--output", a->folder, "Folder to write into")
      ->type_name(output_folder)
      ->capture_default_str();
  command->add_option("--target", a->target, "sm_80, sm_86, sm_89 or sm_90a")->capture_default_str();
  add_tiling(*command, a->tiling);
  add_as_given(command, a->as_given);
  add_constants(command, a->constants);
  command
      ->add_option(
          "--emit", a->emit,
          "Files to write next to the manifest: cu, the CUDA source; h, a C header that declares the program "
          "as one function, which cu then defines; cubin; so, a shared object with that function and the "
          "cubin; ir, the kernels as text, which zellige emit compiles")
      ->delimiter(',')
      ->type_name("LIST")
      ->check(one_of({"cu", "h", "cubin", "so", "ir"}))
      ->capture_default_str();
  command->add_flag("--standalone", a->one_file,
                    "Include Zellige's headers in NAME.cu, so that it compiles alone");
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--explain", a->explain, "Print the plan and the expected time of each kernel");
  return {command, [a] { return transpile(*a); }};
}

}  // namespace zellige::cli
