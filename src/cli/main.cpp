#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "cli/commands.hpp"

int main(int argc, char** argv) {
  using namespace zellige::cli;
  CLI::App app("Tensor graphs to verified CUDA kernels.\n", "zellige");
  app.set_version_flag("--version", "zellige " ZELLIGE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "\nzellige COMMAND --help tells a command's options.\n"
      "Exit status: 0 done, and nothing is wrong; 1 some result is wrong; 2 the input or the machine is at "
      "fault.");
  const std::vector<Entry> entries = {add_run(app), add_transpile(app), add_layout(app), add_banks(app), add_equal(app)};
  try {
    app.parse(argc, argv);
    for (const Entry& entry : entries) {
      if (entry.app->parsed()) return entry.command();
    }
    return refused;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    const bool known = argc > 1 && std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
                         return entry.app->get_name() == argv[1];
                       });
    if (argc > 1 && argv[1][0] != '-' && !known) {
      fmt::print(stderr, "zellige: {} is no command; zellige --help lists them\n", argv[1]);
      return refused;
    }
    fmt::print(stderr, "zellige: {} (zellige --help tells how it is used)\n", e.what());
    return refused;
  } catch (const std::exception& e) {
    fmt::print(stderr, "zellige: {}\n", e.what());
    return refused;
  }
}
