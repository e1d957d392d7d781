// Escapes strings from outside for printing on a terminal. A file name, for example, may hold any byte except
// zero, and a terminal would interpret some bytes as commands.
//
//   fail("{}: cannot be read", shown(path));     // newlines in the path are escaped, too
//   print(shown_lines(message));                 // newlines in the message are kept
#pragma once
#include <string>
#include <string_view>

namespace zellige::strings {

/// Returns the string with each control character (C0, C1, bidirectional controls, line separators) and each
/// byte that is not UTF-8 written as an escape, such as \n, \t, \x1b or \u202e. Other strings are unchanged;
/// applying the function twice gives the same result.
std::string shown(std::string_view);

/// Returns the place of the first byte that is not UTF-8; npos if there is none.
std::size_t first_not_utf8(std::string_view);

/// Like shown(), but keeps newlines and tabs.
std::string shown_lines(std::string_view);

}  // namespace zellige::strings
