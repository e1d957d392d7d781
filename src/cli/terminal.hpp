// Escapes everything that the command prints for people: no name of a file or graph can move the cursor,
// change colours, ring the bell or begin a line of its own.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "graph/shown.hpp"

namespace zellige::cli {

/// Remembers the command line's words, which messages quote: a line end inside such a word does not end the
/// message's line.
void know_words(int argc, const char* const* argv);

/// A message for printing: control characters other than line ends and tabs are escaped, and these as well
/// inside a word of the command line.
std::string printed(std::string message);

template <class... Args>
void say(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(to, "{}", printed(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace zellige::cli
