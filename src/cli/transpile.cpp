// zellige transpile: a graph's kernel and manifest as files.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/choose.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/tiling.hpp"
#include "emit/emit.hpp"
#include "fuse/fuse.hpp"
#include "graph/constant.hpp"
#include "run/files.hpp"
#include "run/outputs.hpp"
#include "run/standalone.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

struct Arguments {
  std::string file, folder = ".", target = "sm_80", tiling;
  int index = 0;
  std::vector<std::string> constants;
  bool one_file = false, explain = false, force = false, as_given = false;
};

int transpile(const Arguments& a) {
  const target::Target& target = target::find(a.target);
  run::Outputs outputs({a.file}, a.force);
  graph::Loaded chosen = choose(a.file, a.index);
  if (!chosen.error.empty()) throw Error(chosen.error);
  graph::declare_constant(chosen.graph, a.constants);
  fuse::Optimized fused;
  if (a.as_given)
    fused.graph = std::move(chosen.graph);
  else
    fused = fuse::optimize(chosen.graph, target);
  emit::Program program = emit::transpile(fused.graph, target, wishes(a.tiling, target));
  if (a.one_file) program.source = run::standalone(program.source);

  run::create_folders(a.folder);
  const auto stem = std::filesystem::path(a.folder) / program.manifest.name;
  const std::string cuda = stem.string() + ".cu", manifest = stem.string() + ".manifest.json";
  outputs.put(cuda, program.source);
  outputs.put(manifest, emit::to_json(program.manifest));
  outputs.commit();
  if (a.explain) {
    for (const std::string& note : fused.notes) fmt::print("{}\n", note);
    fmt::print("{}{}\n", plan::print(program.plan), plan::print(program.price));
  }
  fmt::print("{}\n{}\n", cuda, manifest);
  return success;
}

}  // namespace

Entry add_transpile(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "transpile", "Write a graph's CUDA text NAME.cu and its manifest NAME.manifest.json");
  command->add_option("FILE", a->file, "A graph file: Zellige's JSON or Mirage's; - is stdin")->required();
  command->add_option("--index", a->index, "Which graph of the file")
      ->check(integer(0, most_index))
      ->capture_default_str();
  command->add_option("-o,--output", a->folder, "The folder to write into")
      ->type_name(output_folder)
      ->capture_default_str();
  command->add_option("--target", a->target, "sm_80, sm_86, sm_89 or sm_90a")->capture_default_str();
  add_tiling(*command, a->tiling);
  add_as_given(command, a->as_given);
  add_constants(command, a->constants);
  command->add_flag("--standalone", a->one_file, "Put Zellige's headers into NAME.cu");
  command->add_flag("--force", a->force, force_help);
  command->add_flag("--explain", a->explain, "Print the plan in words");
  return {command, [a] { return transpile(*a); }};
}

}  // namespace zellige::cli
