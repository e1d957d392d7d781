// Validates values of command-line options, and adds options that several commands share. Messages say what
// is expected: "--index: expected an integer from 0 to 2147483647, found -1".
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace zellige::cli {

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
