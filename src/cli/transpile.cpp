// zellige transpile: a graph's kernel and manifest as files.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "emit/emit.hpp"
#include "graph/load.hpp"
#include "run/files.hpp"
#include "run/standalone.hpp"
#include "target/target.hpp"

namespace zellige::cli {
namespace {

struct Arguments {
  std::string file, folder = ".", target = "sm_80";
  int index = 0;
  bool one_file = false, explain = false;
};

int transpile(const Arguments& a) {
  const target::Target& target = target::find(a.target);
  const auto graphs = graph::load_each(a.file);
  const int count = static_cast<int>(graphs.size());
  if (a.index < 0 || a.index >= count) {
    fail("{}: --index {} is out of range; the file holds {} graph{}, counted from 0", a.file, a.index, count,
         count == 1 ? "" : "s");
  }
  const graph::Loaded& chosen = graphs[static_cast<std::size_t>(a.index)];
  if (!chosen.error.empty()) throw Error(chosen.error);
  emit::Program program = emit::transpile(chosen.graph, target);
  if (a.one_file) program.source = run::standalone(program.source);

  run::create_folders(a.folder);
  const auto stem = std::filesystem::path(a.folder) / program.manifest.name;
  const std::string cuda = stem.string() + ".cu", manifest = stem.string() + ".json";
  run::write_whole(cuda, program.source);
  try {
    run::write_whole(manifest, emit::to_json(program.manifest));
  } catch (...) {
    std::filesystem::remove(cuda);  // both or none
    throw;
  }
  if (a.explain) fmt::print("{}\n", program.plan);
  fmt::print("{}\n{}\n", cuda, manifest);
  return success;
}

}  // namespace

Entry add_transpile(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("transpile", "Write a graph's CUDA text NAME.cu and its manifest NAME.json");
  command->add_option("FILE", a->file, "A graph file: Zellige's JSON or Mirage's")->required();
  command->add_option("--index", a->index, "Which graph of the file")->capture_default_str();
  command->add_option("-o,--output", a->folder, "The folder to write into")->capture_default_str();
  command->add_option("--target", a->target, "sm_80, sm_86, sm_89 or sm_90a")->capture_default_str();
  command->add_flag("--standalone", a->one_file, "Put Zellige's headers into NAME.cu");
  command->add_flag("--explain", a->explain, "Print the plan in words");
  return {command, [a] { return transpile(*a); }};
}

}  // namespace zellige::cli
