// Validators for options, with readable messages: "--index: expected an integer from 0 to 2147483647, found
// -1".
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace zellige::cli {

/// A decimal integer in a range.
CLI::Validator integer(std::uint64_t min, std::uint64_t max);
/// One of a list of words.
CLI::Validator one_of(std::vector<std::string> words);

/// --as-given: one kernel per operator.
void add_as_given(CLI::App* command, bool& as_given);

/// --constant NAME, repeatable.
void add_constants(CLI::App* command, std::vector<std::string>& names);

/// Adds an example to a command's help, above the help's last lines.
void add_example(CLI::App* command, const std::string& example);

/// The error of a command line that CLI11 rejected, in one sentence.
std::string mistake(const CLI::App&, const CLI::ParseError&);

}  // namespace zellige::cli
