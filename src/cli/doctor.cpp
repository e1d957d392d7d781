// Implements `zellige doctor`: lists the CuTe headers and names that a source file uses, and says which of
// them Zellige has.

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "port/report.hpp"
#include "system/files.hpp"

namespace zellige::cli {
namespace {

struct DoctorArguments {
  std::string file;
  std::vector<std::string> folders;
  bool json = false;
};

/// Returns in words where a header or name exists: in Zellige, in CUTLASS only, or nowhere, with the nearest
/// known name.
std::string verdict(const port::SourceUse& u) {
  if (u.is == port::Whose::ours) return "ours";
  if (u.is == port::Whose::cutlass) return fmt::format("CUTLASS's, {}", u.where);
  return u.nearest.empty() ? "missing" : fmt::format("missing; the nearest is {}", u.nearest);
}
nlohmann::ordered_json json(const std::vector<port::SourceUse>& uses) {
  auto all = nlohmann::ordered_json::array();
  for (const port::SourceUse& u : uses) {
    const char* is = u.is == port::Whose::ours ? "ours" : u.is == port::Whose::cutlass ? "cutlass" : "missing";
    all.push_back({{"what", u.what}, {"line", u.line}, {"is", is}, {"where", u.where}, {"nearest", u.nearest}});
  }
  return all;
}

int doctor(const DoctorArguments& a) {
  const port::Ours ours = port::ours();
  const port::PortReport r =
      port::report(port::read_source(system::read_whole(a.file)), ours, {a.folders.begin(), a.folders.end()});
  if (a.json) {
    const nlohmann::ordered_json out = {{"file", a.file},
                                        {"follows", port::followed_version},
                                        {"cutlass", {{"folder", r.cutlass}, {"version", r.version}}},
                                        {"includes", json(r.includes)},
                                        {"names", json(r.names)}};
    say(stdout, "{}\n", out.dump());
    return r.complete() ? success : refused;
  }
  if (!r.version.empty() && r.version != port::followed_version)
    say(stdout, "{}: CUTLASS {}, where Zellige follows {}\n", r.cutlass, r.version, port::followed_version);
  for (const std::vector<port::SourceUse>* all : {&r.includes, &r.names})
    for (const port::SourceUse& u : *all) say(stdout, "{}:{}: {}: {}\n", a.file, u.line, u.what, verdict(u));
  return r.complete() ? success : refused;
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  auto a = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand(
      "doctor", "List the headers and names of CuTe that a source uses, and whether Zellige has them");
  add_example(command, "zellige doctor --cute kernel.cu -I cutlass/include");
  command
      ->add_option(
          "--cute", a->file,
          "The source file. Prints a line per include of cute/, cutlass/ and zellige/ and per name of cute::, which is "
          "ours, CUTLASS's (and where) or missing (with the nearest name). Status 2 if one is missing")
      ->required();
  command->add_option("-I", a->folders, "Folder in which CUTLASS's headers are looked for. Repeatable")
      ->allow_extra_args(false);
  command->add_flag("--json", a->json, "Print one line of JSON");
  command->callback([a, &status] { status = doctor(*a); });
}

}  // namespace zellige::cli
