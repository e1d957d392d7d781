// Declares the subcommands of `zellige`; each is implemented in a file of its own. An add_ function adds a
// subcommand with its options to the application. If the user selected it, the application runs it, and `status` becomes
// the exit status.
//
// Validates values of command-line options, and adds options that several commands share. Messages say what is expected:
// "--index: expected an integer from 0 to 2147483647, found -1".
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

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
void add_emulate(CLI::App&, int& status);
void add_explain(CLI::App&, int& status);
void add_learn(CLI::App&, int& status);

// Exit statuses of the command line; see the footer in main.cpp. If graphs of one run have different
// statuses, a wrong or failed one determines the exit status, then undecided (`equal` only), then refused.
constexpr int success = 0, wrong = 1, refused = 2, undecided = 3;

// Names of values in --help for options that write files. tests/cli/outputs_test.cpp finds such options by these names.
constexpr const char *output_file = "OUTFILE", *output_folder = "OUTFOLDER";
constexpr const char* force_help = "Replace files that Zellige did not write, or that were edited since";

/// Returns a validator that accepts decimal integers from `min` to `max`.
CLI::Validator integer(std::uint64_t min, std::uint64_t max);
/// Returns a validator that accepts one of the words. Its message suggests the nearest word.
CLI::Validator one_of(std::vector<std::string> words);

/// Adds the argument FILE, a file of graphs, and the option --index, which selects one of them. Their values are
/// stored in `file` and `index`.
void add_graph(CLI::App* command, std::string& file, int& index);
/// Adds the option --target, the GPU architecture to compile for. Its value is stored in `target`.
void add_target(CLI::App* command, std::string& target);

/// Adds the flag --as-given, which disables fusion (one kernel per operator). Its value is stored in `as_given`.
void add_as_given(CLI::App* command, bool& as_given);

/// Adds the option --tiling, which selects the tile sizes of custom operators (fused kernels). Its value, which
/// run::parse_tiling_option() interprets, is stored in `tiling`.
void add_tiling(CLI::App* command, std::string& tiling);

/// Adds the option --constant NAME, repeatable: inputs that no earlier work on the stream writes, such as
/// weights. The names are stored in `names`.
void add_constants(CLI::App* command, std::vector<std::string>& names);

/// Adds an example to a command's help, before the help's footer.
void add_example(CLI::App* command, const std::string& example);

/// Returns the message, in one sentence, for a command line that CLI11 rejects.
std::string mistake(const CLI::App&, const CLI::ParseError&);

}  // namespace zellige::cli
