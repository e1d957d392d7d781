// Names as C identifiers, still recognisable: letters and digits stay, everything else becomes one underscore.
#pragma once
#include <string>
#include <string_view>

namespace zellige::plan {

constexpr std::size_t longest_identifier = 64;

/// "lora k" -> "lora_k". Never two underscores in a row, none at either end, at most `longest_identifier` characters;
/// empty where the name has no letter and no digit. Two names may come out alike: emit::Names tells them apart.
std::string identifier(std::string_view name);

}  // namespace zellige::plan
