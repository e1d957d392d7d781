// Escapes foreign strings for a terminal: a file name may hold any byte except zero, and a terminal
// interprets some.
//
//   fail("{}: cannot be read", shown(path));     // a name: one line, whatever it is called
//   print(shown_lines(message));                 // a message of several lines
#pragma once
#include <string>
#include <string_view>

namespace zellige::graph {

/// Escapes each control character (C0, C1, bidirectional controls, line separators) and each byte that is not
/// UTF-8 as \n, \t, \x1b or \u202e. Idempotent; returns other strings unchanged.
std::string shown(std::string_view);

/// The same, but keeps line ends and tabs.
std::string shown_lines(std::string_view);

}  // namespace zellige::graph
