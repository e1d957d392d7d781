#include "tile/identifier.hpp"

namespace zellige::tile {

std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (result.size() == longest_identifier) break;
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  if (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

}  // namespace zellige::tile
