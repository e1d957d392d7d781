// Declares the subcommands of `zellige`; each is implemented in a file of its own. An add_ function adds a
// subcommand with its options to the application, and returns the function that runs it.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace zellige::cli {

using Command = std::function<int()>;  // runs the subcommand and returns the exit status

/// A subcommand, and the function to call if the user selected it.
struct Subcommand {
  CLI::App* app;
  Command command;
};

Subcommand add_run(CLI::App&);
Subcommand add_transpile(CLI::App&);
Subcommand add_emit(CLI::App&);
Subcommand add_layout(CLI::App&);
Subcommand add_banks(CLI::App&);
Subcommand add_equal(CLI::App&);
Subcommand add_optimize(CLI::App&);
Subcommand add_cache(CLI::App&);
Subcommand add_doctor(CLI::App&);
Subcommand add_emulate(CLI::App&);

// Exit statuses of the command line; see the footer in main.cpp. If graphs of one run have different
// statuses, a wrong or failed one determines the exit status, then undecided (`equal` only), then refused.
constexpr int success = 0, wrong = 1, refused = 2, undecided = 3;

// Names of values in --help for options that write files. tests/cli/outputs_test.cpp finds such options by these names.
constexpr const char *output_file = "OUTFILE", *output_folder = "OUTFOLDER";
constexpr const char* force_help = "Replace files that Zellige did not write, or that were edited since";

}  // namespace zellige::cli
