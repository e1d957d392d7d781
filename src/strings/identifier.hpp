// Decides which names graphs, tensors and operators may have: they are printed in messages as they are.
//
//   is_identifier("x.1"), is_identifier("two words")   // true, false
#pragma once
#include <algorithm>
#include <string_view>

namespace zellige::strings {

/// Returns whether a name may contain the character.
constexpr bool is_of_a_name(char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; }

/// Returns whether the string is a valid name: 1 to 200 printable ASCII characters without blanks, quotes and
/// backslashes.
constexpr bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, is_of_a_name);
}

}  // namespace zellige::strings
