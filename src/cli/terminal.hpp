// All that the command prints for people goes through here: no name of a file or a graph moves the cursor, colours the screen, rings
// or begins a line of its own.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "graph/shown.hpp"

namespace zellige::cli {

/// Remembers the words of the command line, which messages quote: an end of a line in one of them is no end of the message's.
void know_words(int argc, const char* const* argv);

/// A message as it is printed: control characters other than ends of lines and tabs escaped, and these where they are a word's.
std::string printed(std::string message);

template <class... Args>
void say(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(to, "{}", printed(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace zellige::cli
