// Maps names to recognisable C identifiers: letters and digits are kept, everything else becomes one
// underscore.
#pragma once
#include <string>
#include <string_view>

namespace zellige::plan {

constexpr std::size_t longest_identifier = 64;

/// "lora k" -> "lora_k". No two consecutive underscores, none at either end, at most `longest_identifier`
/// characters; empty if the name has no letter or digit. Two names may give the same identifier: emit::Names
/// makes them unique.
std::string identifier(std::string_view name);

}  // namespace zellige::plan
