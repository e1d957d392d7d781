// The subcommands of `zellige`, one file each. Each adds its options to the application, with a function
// `run` that returns the exit status.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace zellige::cli {

using Command = std::function<int()>;

/// A subcommand with the Command to call if the user selected it.
struct Entry {
  CLI::App* app;
  Command command;
};

Entry add_run(CLI::App&);
Entry add_transpile(CLI::App&);
Entry add_layout(CLI::App&);
Entry add_banks(CLI::App&);
Entry add_equal(CLI::App&);
Entry add_optimize(CLI::App&);
Entry add_cache(CLI::App&);
Entry add_doctor(CLI::App&);

// Exit statuses. A wrong or failed result takes precedence over a rejection; for `equal`, so does undecided.
constexpr int success = 0, wrong = 1, refused = 2, undecided = 3;

// The value names in --help of options that write; tests/cli/outputs_test.cpp looks for them.
constexpr const char *output_file = "OUTFILE", *output_folder = "OUTFOLDER";
constexpr const char* force_help = "Replace files that Zellige did not write, or that were edited since";

}  // namespace zellige::cli
