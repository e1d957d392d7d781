// Implements `zellige emit`: compiles the textual form of a program, NAME.ir, to its CUDA source and its manifest.
#include "emit/emit.hpp"

#include <unistd.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "ir/ir.hpp"
#include "run/outputs.hpp"
#include "strings/shown.hpp"
#include "system/files.hpp"

namespace zellige::cli {
namespace {

struct EmitArguments {
  std::string file, folder = ".";
  bool force = false;
};

int emit(const EmitArguments& a) {
  run::Outputs outputs({a.file}, a.force);
  const emit::EmittedProgram program =
      ir::compile(system::read_whole(a.file == "-" ? "/dev/stdin" : a.file), a.file == "-" ? "stdin" : a.file).program;
  manifest::Manifest manifest = program.manifest;
  system::create_folders(a.folder);
  const std::string stem = (std::filesystem::path(a.folder) / manifest.name).string();
  manifest.artefacts.push_back(manifest::artefact(manifest.name + ".cu", program.source));
  outputs.put(stem + ".cu", program.source);
  outputs.put(stem + ".manifest.json", manifest::to_json(manifest));
  outputs.commit();
  for (const char* ending : {".cu", ".manifest.json"})
    fmt::print("{}\n", ::isatty(1) ? strings::shown(stem + ending) : stem + ending);
  return success;
}

}  // namespace

void add_emit(CLI::App& app, int& status) {
  auto a = std::make_shared<EmitArguments>();
  CLI::App* command = app.add_subcommand(
      "emit", "Verify the program of a file that transpile --emit ir wrote, edited or not, and write its CUDA source");
  add_example(command, "zellige emit out/attention.ir -o out");
  command->add_option("FILE", a->file, "A program as text, NAME.ir, which names its target; - is stdin")->required();
  command->add_option("-o,--output", a->folder, "Folder to write NAME.cu and NAME.manifest.json into")
      ->type_name(output_folder)
      ->capture_default_str();
  command->add_flag("--force", a->force, force_help);
  command->callback([a, &status] { status = emit(*a); });
}

}  // namespace zellige::cli
