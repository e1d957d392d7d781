// Texts of others as a terminal may be given them: a file's name may hold any byte but zero, and a terminal obeys some.
//
//   fail("{}: cannot be read", shown(path));     // a name: one line, whatever it is called
//   print(shown_lines(message));                 // a message of several lines
#pragma once
#include <string>
#include <string_view>

namespace zellige::graph {

/// The text with each control character (C0, C1, those that turn the direction of writing, line separators) and each byte that is no
/// UTF-8 as \n, \t, \x1b or \u202e. What has none is returned as it is, and so is what was returned.
std::string shown(std::string_view);

/// The same, with ends of lines and tabs left.
std::string shown_lines(std::string_view);

}  // namespace zellige::graph
