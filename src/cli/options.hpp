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

/// Adds the flag --as-given, which disables fusion (one kernel per operator). Its value is stored in `as_given`.
void add_as_given(CLI::App* command, bool& as_given);

/// Adds the option --constant NAME, repeatable: inputs that no earlier work on the stream writes, such as
/// weights. The names are stored in `names`.
void add_constants(CLI::App* command, std::vector<std::string>& names);

/// Adds an example to a command's help, before the help's footer.
void add_example(CLI::App* command, const std::string& example);

/// Returns the message, in one sentence, for a command line that CLI11 rejects.
std::string mistake(const CLI::App&, const CLI::ParseError&);

}  // namespace zellige::cli
