// What options take, checked in words: "--index: expected an integer from 0 to 2147483647, found -1".
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace zellige::cli {

/// A whole number in a range, in decimal.
CLI::Validator integer(std::uint64_t least, std::uint64_t most);
/// One of some words.
CLI::Validator one_of(std::vector<std::string> words);

/// --as-given: a kernel per operator.
void add_as_given(CLI::App* command, bool& as_given);

/// --constant NAME, which may be given again.
void add_constants(CLI::App* command, std::vector<std::string>& names);

/// Shows a command in the help, above what the help ends with.
void add_example(CLI::App* command, const std::string& example);

/// What is wrong with a command line that CLI11 refused, in one sentence.
std::string mistake(const CLI::App&, const CLI::ParseError&);

}  // namespace zellige::cli
