#include "ir/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "emit/names.hpp"

namespace zellige::ir {

std::vector<std::string> identifiers(const std::vector<std::string>& names, char letter) {
  emit::Names formed;
  std::set<std::string> taken;
  std::vector<std::string> all;
  const auto is_default = [](const std::string& name) {
    return !name.empty() &&
           std::ranges::all_of(name, [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); }) &&
           !std::isdigit(static_cast<unsigned char>(name[0]));
  };
  for (std::string name : names) {
    for (;; name += "'") {
      all.push_back(letter == 0 && is_default(name) ? name : letter == 'g' ? formed.global(name) : formed.shared(name));
      if (taken.insert(all.back()).second) break;
      all.pop_back();
    }
  }
  return all;
}

std::string number_text(double value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c < ' ' && c >= 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  return out + "\"";
}

}  // namespace zellige::ir
