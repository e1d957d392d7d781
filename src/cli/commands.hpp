// Declares the subcommands of `zellige`; each is implemented in a file of its own. An add_ function adds a
// subcommand with its options to the application. If the user selected it, the application runs it, and `status` becomes
// the exit status.
#pragma once

namespace CLI {
class App;
}

namespace zellige::cli {

void add_run(CLI::App&, int& status);
void add_transpile(CLI::App&, int& status);
void add_emit(CLI::App&, int& status);
void add_layout(CLI::App&, int& status);
void add_banks(CLI::App&, int& status);
void add_equal(CLI::App&, int& status);
void add_optimize(CLI::App&, int& status);
void add_cache(CLI::App&, int& status);
void add_doctor(CLI::App&, int& status);

// Exit statuses of the command line; see the footer in main.cpp. If graphs of one run have different
// statuses, a wrong or failed one determines the exit status, then undecided (`equal` only), then refused.
constexpr int success = 0, wrong = 1, refused = 2, undecided = 3;

// Names of values in --help for options that write files. tests/cli/outputs_test.cpp finds such options by these names.
constexpr const char *output_file = "OUTFILE", *output_folder = "OUTFOLDER";
constexpr const char* force_help = "Replace files that Zellige did not write, or that were edited since";

}  // namespace zellige::cli
