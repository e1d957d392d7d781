// The subcommands of `zellige`, one file each. Each adds its options to the application and says, in `run`,
// what to do with them; what it returns is the exit status.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace zellige::cli {

using Command = std::function<int()>;

/// Adds a subcommand; the Command is to be called if it was the one given.
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

// Exit statuses. A wrong result, or one that failed, outweighs a refusal; of `equal`, undecided outweighs one, too.
constexpr int success = 0, wrong = 1, refused = 2, undecided = 3;

// What --help calls the value of an option that writes; tests/cli/outputs_test.cpp looks for them.
constexpr const char *output_file = "OUTFILE", *output_folder = "OUTFOLDER";
constexpr const char* force_help = "Replace files that Zellige did not write, or that were edited since";

}  // namespace zellige::cli
