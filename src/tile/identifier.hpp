// Converts a graph's or tensor's name to a recognisable C identifier.
#pragma once
#include <string>
#include <string_view>

namespace zellige::tile {

constexpr std::size_t longest_identifier = 64;  // characters

/// Returns the name with every sequence of characters other than ASCII letters and digits replaced by one underscore,
/// and no underscore at the beginning or end: "lora k" gives "lora_k". The result has at most `longest_identifier`
/// characters, may begin with a digit, and is empty if the name has no letter or digit. Different names may give the
/// same identifier; emit::Names makes identifiers unique.
std::string identifier(std::string_view name);

}  // namespace zellige::tile
