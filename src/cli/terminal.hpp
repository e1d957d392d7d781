// Escapes control characters in the messages that the command prints for people, so that no name of a file or
// graph in a message can move the cursor, change colours, ring the bell or begin a line.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "graph/shown.hpp"
#include "kernel/rejections.hpp"

namespace zellige::cli {

/// Stores the words of the command line, which messages may quote. After that, printed() also escapes
/// newlines inside these words.
void know_words(int argc, const char* const* argv);

/// Returns a message with control characters escaped. Newlines and tabs are kept, except inside a word of the
/// command line.
std::string printed(std::string message);

/// Formats a message, escapes it with printed(), and prints it.
template <class... Args>
void say(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(to, "{}", printed(fmt::format(format, std::forward<Args>(args)...)));
}

/// Prints a line on stderr about the plans of the graph named `graph` that the verifier rejected during a search.
/// Prints nothing if it rejected none.
void tell(const std::string& graph, const kernel::Rejections&);

}  // namespace zellige::cli
